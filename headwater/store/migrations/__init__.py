"""The ledger's schema, step by step; one set of migrations for both databases."""
