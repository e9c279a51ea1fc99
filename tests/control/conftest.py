"""The ledger's two databases, and a fleet over them."""

import pytest

from headwater.store import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.fleet import Fleet
from tests.ledgers import (  # noqa: F401  (fixtures)
    clock,
    ledger,
    ledger_url,
    postgres_url,
    spawn,
    sqlite_url,
)


@pytest.fixture
def fleet(ledger: Ledger, clock: FrozenClock) -> Fleet:  # noqa: F811
    return Fleet(ledger, clock)
