"""Whatever is committed in whatever order: a window never claims less than what happened."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, count
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.capture.changes import ChangeKind, capture_changes
from headwater.vocabulary.frontier import SourceVersion

STEPS = ("append", "rewrite", "delete", "optimize", "overwrite", "truncate", "property", "nothing")


@dataclass
class Model:
    """A table as files of rows, with every version's rows kept."""

    written: Any
    files: dict[str, list[int]] = field(default_factory=dict)
    history: list[Counter[int]] = field(default_factory=list)
    numbers: count[int] = field(default_factory=count)

    def step(self, kind: str, *, checksum: bool) -> None:
        getattr(self, f"_{kind}")()
        self.history.append(Counter(row for rows in self.files.values() for row in rows))
        if checksum:
            adds = [self.written.add(name, len(rows)) for name, rows in self.files.items()]
            self.written.checksum(*adds)

    def _new(self, rows: list[int]) -> dict[str, Any]:
        name = f"f{next(self.numbers)}"
        self.files[name] = rows
        (self.written.folder / name).touch()
        add: dict[str, Any] = self.written.add(name, len(rows))
        return add

    def _gone(self, *, data_change: bool = True) -> tuple[list[dict[str, Any]], list[int]]:
        rows = [row for found in self.files.values() for row in found]
        gone = [self.written.remove(name, data_change=data_change) for name in self.files]
        self.files.clear()
        return gone, rows

    def _create(self) -> None:
        self.written.create()

    def _append(self) -> None:
        self.written.commit(self._new([next(self.numbers)]))

    def _rewrite(self) -> None:
        gone, rows = self._gone()
        self.written.commit(*gone, self._new([*rows[1:], next(self.numbers)]), operation="UPDATE")

    def _delete(self) -> None:
        gone, _ = self._gone()
        self.written.commit(*gone, operation="DELETE")

    def _optimize(self) -> None:
        gone, rows = self._gone(data_change=False)
        compacted = self._new(rows)
        compacted["add"]["dataChange"] = False
        self.written.commit(*gone, compacted, operation="OPTIMIZE")

    def _overwrite(self) -> None:
        gone, _ = self._gone()
        made = self._new([next(self.numbers)])
        self.written.commit(*gone, made, operationParameters={"mode": "Overwrite"})

    def _truncate(self) -> None:
        gone, _ = self._gone()
        self.written.commit(*gone, operation="TRUNCATE")

    def _property(self) -> None:
        self.written.commit(self.written.metadata("id:long,v:integer"), operation="SET")

    def _nothing(self) -> None:
        self.written.commit(operation="VACUUM END")


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.booleans()), max_size=7), own=st.booleans()
)
def test_windows_never_claim_less_than_happened(
    write_log: Any, *, steps: list[tuple[str, bool]], own: bool
) -> None:
    """NONE means equal rows, APPEND means no row went, and statistics count what is there."""
    with tempfile.TemporaryDirectory() as folder:
        model = Model(write_log(Path(folder)))
        for kind, checksum in [("create", False), *steps]:
            model.step(kind, checksum=checksum)
        log = model.written.log
        for version, rows in enumerate(model.history):
            assert log.statistics(version).rows == rows.total()
        for a, b in combinations(range(len(model.history)), 2):
            since = SourceVersion("table-1", a)
            kind = capture_changes(log, source="s", since=since, up_to=b, own=own).kind
            before, after = model.history[a], model.history[b]
            if kind is ChangeKind.NONE:
                assert before == after
            elif kind is ChangeKind.APPEND:
                assert before <= after
