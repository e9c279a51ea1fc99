"""One file per revision; each is also listed in `headwater.store.revisions`."""
