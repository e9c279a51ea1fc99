"""An open project: definitions, ledger, tables, Spark; and a view as its own commits have it."""
