"""Tell the ledger what the view's own commit says."""
