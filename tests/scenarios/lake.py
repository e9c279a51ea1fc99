"""A small lakehouse with one project on it, and a judge that does not trust the project."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headwater
from headwater.control.duties import duties
from headwater.execute.isolated import isolated
from headwater.runner.refreshing import RefreshWork
from headwater.runner.run import Run
from headwater.vocabulary.stamp import Stamp
from headwater.vocabulary.technique import Technique
from headwater.workspace.compiled import compiled_view
from tests import tables
from tests.jobs import JOB

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.api import Headwater
    from headwater.control.results import RunResult
    from headwater.vocabulary.receipt import Receipt

Observer = Callable[[str], None]


class Lake:
    """Tables under `data/`, views under `warehouse/`; statements name tables as {name}."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder = folder
        self.spark = spark
        self.sources: list[str] = []
        self.ddl: dict[str, str] = {}
        self.queries: dict[str, str] = {}
        self.told: list[str] = []
        self.on_step: Observer = lambda _step: None
        self.hw = self.open()

    def open(self) -> Headwater:
        return headwater.open(self.folder, spark=self.spark, observer=self._observe)

    def reopen(self) -> None:
        self.hw.close()
        self.hw = self.open()

    def _observe(self, step: str) -> None:
        self.told.append(step)
        self.on_step(step)

    # --- tables ---------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        place = "warehouse" if name in self.queries else "data"
        return str(self.folder / place / name)

    def place(self, name: str) -> str:
        return f"delta.`{self.path(name)}`"

    def write(
        self,
        name: str,
        ddl: str,
        rows: Iterable[tuple[Any, ...]],
        *,
        mode: str = "error",
        **properties: str,
    ) -> None:
        """Make, or add to, a table in one commit; the change feed is on unless said otherwise."""
        tables.write(self.path(name), ddl, rows, mode, **properties)
        self.ddl[name] = ddl

    def source(self, name: str, ddl: str, rows: Iterable[tuple[Any, ...]], **options: str) -> None:
        self.write(name, ddl, rows, **options)
        self.register(name)

    def dictionary(self, name: str, ddl: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self.write(name, ddl, rows)
        self.register(name, "AS BATCH")

    def register(self, name: str, clauses: str = "") -> None:
        self.hw.sql(f"CREATE SOURCE {name} FROM DELTA 'data/{name}' {clauses}")
        self.sources.append(name)

    def view(self, name: str, query: str, clauses: str = "POLICY INCREMENTAL") -> None:
        self.queries[name] = query
        self.hw.sql(f"CREATE MATERIALIZED VIEW {name} {clauses} AS {query}")

    def run(self, *statements: str) -> None:
        names = {name: self.place(name) for name in (*self.sources, *self.queries)}
        for statement in statements:
            self.spark.sql(statement.format(**names))

    def insert(self, name: str, *rows: tuple[Any, ...]) -> None:
        self.change(name, ddl=self.ddl[name], insert=rows)

    def change(self, name: str, **action: Any) -> None:
        """One commit to a source without Spark, see `tables.change`."""
        tables.change(self.path(name), action)

    # --- looking --------------------------------------------------------------------------------

    def version(self, name: str) -> int:
        return max(int(p.stem) for p in self._log(name))

    def commits(self, name: str) -> list[dict[str, Any]]:
        """The commitInfo of every commit, oldest first, read from the log itself."""
        found = []
        for file in sorted(self._log(name)):
            actions = [json.loads(line) for line in file.read_text().splitlines()]
            found += [a["commitInfo"] for a in actions if "commitInfo" in a]
        return found

    def _log(self, name: str) -> list[Path]:
        return tables.log_files(self.path(name))

    def stamp(self, view: str) -> Stamp:
        """What the newest commit of ours says about the view, read from the log itself."""
        notes = [c["userMetadata"] for c in self.commits(view) if "userMetadata" in c]
        found = Stamp.from_json(notes[-1])
        assert found is not None
        return found

    def content(self, view: str) -> Counter[str]:
        return bag(self.hw.table(view).collect())

    def stored(self, view: str) -> Counter[str]:
        """The visible columns as another reader than Spark finds them in the view's table."""
        names = list(compiled_view(self.hw.workspace, view).stored.values())
        rows = tables.read(self.path(view)).select(names).to_pylist()
        return bag(tuple(row.values()) for row in rows)

    def recomputed(self, *views: str, **versions: int) -> dict[str, Counter[str]]:
        """Views computed by nothing but Spark, from the sources as they are now, or were once."""
        session = isolated(self.spark)
        for source in self.sources:
            reader = session.read.format("delta")
            if source in versions:
                reader = reader.option("versionAsOf", versions[source])
            reader.load(self.path(source)).createOrReplaceTempView(source)
        found = {}
        for view, query in self.queries.items():
            frame = session.sql(query)
            frame.createOrReplaceTempView(view)
            if view in views:
                found[view] = bag(frame.collect())
        return found

    def assert_right(self, *views: str, verify: Iterable[str] | None = None) -> None:
        """Equal to Spark's own result now, as bags, by our comparison and by `verify`."""
        wanted = views or tuple(self.queries)
        for view, expected in self.recomputed(*wanted).items():
            assert self.stored(view) == expected, view
        for view in wanted if verify is None else verify:
            assert self.hw.verify(view).equal, view

    def read(self, view: str) -> dict[str, int]:
        """The versions that a view's frontier names."""
        record = self.hw.workspace.view(view)
        return {name: seen.version for name, seen in record.frontier.items()}

    def run_job(self, name: str) -> RunResult:
        """One run of a job that the definitions ask for, as a runner does it."""
        workspace, now = self.hw.workspace, self.hw.workspace.clock.now()
        wanted = duties(workspace.definitions, timedelta(hours=8), 3).values()
        (duty,) = (duty for duty in wanted if duty.name == name)
        asked = {"subject": duty.subject, "kind": duty.kind, "placed_by": duty.placed_by}
        job = replace(JOB, name=duty.name, spec=duty.spec, next_at=now, **asked)
        return RefreshWork(workspace).run(Run(job, "runner", lambda: True))

    def refresh(self, *views: str) -> dict[str, Receipt]:
        """Refresh all or some; none may fail."""
        outcome = self.hw.refresh_all(views)
        assert outcome.failures == {}
        return outcome.receipts


def bag(rows: Iterable[Any]) -> Counter[str]:
    """Rows with their number of copies; by text, so that NaN equals NaN."""
    return Counter(repr(tuple(row)) for row in rows)


def codes(receipt: Receipt) -> set[str]:
    return {reason.code for reason in receipt.reasons}


INCREMENTAL = {Technique.APPEND, Technique.DELTA, Technique.MERGE, Technique.REKEY, Technique.SKIP}
