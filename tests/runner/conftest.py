"""The ledger's two databases."""

from tests.ledgers import (  # noqa: F401  (fixtures)
    clock,
    ledger,
    ledger_url,
    postgres_url,
    spawn,
    sqlite_url,
)
