"""Definitions that another application keeps in the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.store import queries
from headwater.store.dialects import Database

_SQL = queries.load("statements")


@dataclass(frozen=True, slots=True)
class StatementRecord:
    """One statement; the numbers give the order."""

    statement_no: int
    text: str


class Statements:
    """Table `hw_statement`: the one table that other applications may edit.

    It has two columns, `statement_no` and `text`: SQL statements in the order of their numbers.
    They are read at `check`, `plan` and `apply` beside the project's files. Headwater itself never
    changes a row that it was not told to.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self) -> tuple[StatementRecord, ...]:
        """All statements in order."""
        rows = self._database.rows(_SQL["list_statements"], {})
        return tuple(StatementRecord(number, text) for number, text in rows)

    def put(self, statement_no: int, text: str) -> None:
        """Add or replace the statement of that number."""
        self._database.change(_SQL["put_statement"], {"statement_no": statement_no, "text": text})

    def remove(self, statement_no: int) -> bool:
        """Forget a statement; false if there was none."""
        return self._database.change(_SQL["remove_statement"], {"statement_no": statement_no}) == 1
