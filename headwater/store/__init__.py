"""The ledger: the control database, SQLite or PostgreSQL, behind one facade. No Spark here.

What the ledger says about contents and frontiers is a cache of the views' own commits. Losing it
costs history, never data.
"""

from headwater.store.attempt_record import AttemptRecord
from headwater.store.attempts import Attempts
from headwater.store.claims import Claim, Claims
from headwater.store.commands import CommandRecord, Commands
from headwater.store.definitions import DefinitionRecord, Definitions
from headwater.store.events import Alert, Event, Events
from headwater.store.job_record import JobRecord
from headwater.store.jobs import Duty, Finish, Jobs
from headwater.store.leases import Lease, Leases, Term
from headwater.store.ledger import Ledger
from headwater.store.marks import Mark, Marks
from headwater.store.owner import Owner, this_process
from headwater.store.runners import RunnerRecord, Runners
from headwater.store.sources import SourceRecord, Sources
from headwater.store.statements import StatementRecord, Statements
from headwater.store.views import ViewRecord, Views, ViewState

__all__ = [
    "Alert",
    "AttemptRecord",
    "Attempts",
    "Claim",
    "Claims",
    "CommandRecord",
    "Commands",
    "DefinitionRecord",
    "Definitions",
    "Duty",
    "Event",
    "Events",
    "Finish",
    "JobRecord",
    "Jobs",
    "Lease",
    "Leases",
    "Ledger",
    "Mark",
    "Marks",
    "Owner",
    "RunnerRecord",
    "Runners",
    "SourceRecord",
    "Sources",
    "StatementRecord",
    "Statements",
    "Term",
    "ViewRecord",
    "ViewState",
    "Views",
    "this_process",
]
