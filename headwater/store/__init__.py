"""The ledger: the control database, SQLite or PostgreSQL, behind one facade. No Spark here.

What the ledger says about contents and frontiers is a cache of the views' own commits. Losing it
costs history, never data.
"""

from headwater.store.attempt_record import AttemptRecord
from headwater.store.attempts import Attempts
from headwater.store.claims import Claim, Claims
from headwater.store.definitions import DefinitionRecord, Definitions
from headwater.store.ledger import Ledger
from headwater.store.owner import Owner, this_process
from headwater.store.sources import SourceRecord, Sources
from headwater.store.statements import StatementRecord, Statements
from headwater.store.views import ViewRecord, Views, ViewState

__all__ = [
    "AttemptRecord",
    "Attempts",
    "Claim",
    "Claims",
    "DefinitionRecord",
    "Definitions",
    "Ledger",
    "Owner",
    "SourceRecord",
    "Sources",
    "StatementRecord",
    "Statements",
    "ViewRecord",
    "ViewState",
    "Views",
    "this_process",
]
