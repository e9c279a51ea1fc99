"""`docs/coverage.md`: which constructs of SQL are kept by which technique, as the planner judges.

What Spark said about each construct is stored in `coverage.json`, so the page is made without
Spark. `python -m docs.coverage` asks Spark anew; a test holds the two together.
"""
# ruff: noqa: INP001  (a program beside the pages it writes)

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.define.query import examine
from headwater.plan.compiled import Compilation, restore
from headwater.plan.moved import moved_clocks
from headwater.plan.soundness import Verdict, recomputed_parts, verdicts
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.view import Columns, CompiledView
from headwater.vocabulary.technique import Technique
from tests.laws.corpus import CORPUS, R, S, T
from tests.tpch.queries import TPCH
from tests.tpch.schema import DDL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORED = Path(__file__).with_name("coverage.json")
_OPEN, _INSERTS, _NONE = "yes", "inserts", "-"
_SHOWN = (Technique.APPEND, Technique.MERGE, Technique.DELTA, Technique.REKEY)

UNREPEATABLE = {
    "unrepeatable: rand in select": "SELECT k, rand() AS x FROM r",
    "unrepeatable: uuid in select": "SELECT k, uuid() AS x FROM r",
    "unrepeatable: current_date in where": "SELECT k FROM r WHERE d >= current_date() - 30",
    "unrepeatable: sample": "SELECT k FROM r TABLESAMPLE (10 PERCENT)",
    "unrepeatable: first without order": "SELECT g, first(k) AS x FROM r GROUP BY g",
}
"""What the laws' corpus cannot hold: two runs of such a query differ."""

CONSTRUCTS: Mapping[str, str] = {
    **CORPUS,
    **UNREPEATABLE,
    **{f"TPC-H: {name}": sql for name, sql in TPCH.items()},
}
"""`family: construct` -> its query."""

_HEAD = """\
# Coverage

This page is written by `make docs` from the planner's own verdicts. Do not edit it.

Each row is a query that the tests keep. They hold every technique that is open for it against
Spark's own result, after inserts, updates and deletes. A construct is

- **incremental** if only the change is computed: by `append`, `delta` or `merge`;
- **by key** if what the changed rows' keys select is computed before and after: by `rekey`;
- **sub-tree** if a part of the query is computed whole and its difference goes on as a change; the
  last column has the part's reason;
- **rebuild** if the whole view is recomputed. `POLICY STRICT` refuses such a view;
- **refused** if Spark itself does not take the query. The last column has its error condition.

`rebuild` is open for every construct and has no column. For the others, *yes* means that the
technique may be used, *inserts* that it may be used while sources only gain rows, and a code is the
[reason](errors.md#reasons) why it may not. `append` is judged for sources that only gain rows, the
others for all sources changed in every way at once, and the clock with them. A change of fewer
sources can open more.
"""


@dataclass(frozen=True)
class Covered:
    """How one construct is kept."""

    kept: str
    cells: tuple[str, ...]  # one per technique of _SHOWN
    parts: tuple[str, ...]


def columns_of(ddl: str) -> Columns:
    """`a int, b struct<c:int,d:int>` as pairs."""
    found, depth, start = [], 0, 0
    for place, letter in enumerate(f"{ddl},"):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            name, _, type_ = ddl[start:place].strip().partition(" ")
            found.append((name, type_))
            start = place + 1
    return tuple(found)


@cache
def _catalog() -> dict[str, Columns]:
    every = {"r": R, "s": S, "t": T, **DDL}
    return {name: columns_of(ddl) for name, ddl in every.items()}


def sources_of(sql: str) -> dict[str, Columns]:
    """The tables that a construct reads."""
    named = {name.lower() for name in examine(sql).tables}
    return {name: columns for name, columns in _catalog().items() if name in named}


def stored() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(STORED.read_text("utf-8"))
    return found


def compiled(spark: SparkSession, every: int = 1) -> dict[str, dict[str, Any]]:
    """What Spark says now about each, or each so-manieth, construct, without the known sources."""
    from pyspark.errors import AnalysisException  # noqa: PLC0415  (only where Spark runs)

    from headwater.execute.compiling import compile_in  # noqa: PLC0415
    from headwater.execute.isolated import isolated  # noqa: PLC0415

    session = isolated(spark)

    def said(sql: str) -> dict[str, Any]:
        try:
            made: dict[str, Any] = json.loads(compile_in(session, sql, sources_of(sql)).to_json())
        except AnalysisException as refusal:
            return {"refused": refusal.getCondition()}
        del made["sources"]
        return made

    return {name: said(sql) for name, sql in list(CONSTRUCTS.items())[::every]}


def covered(name: str, said: Mapping[str, Any]) -> Covered:
    """The planner's verdicts on a construct, or Spark's refusal."""
    if "refused" in said:
        return Covered("refused", (_NONE,) * len(_SHOWN), (str(said["refused"]),))
    sql = CONSTRUCTS[name]
    text = json.dumps({**said, "sources": sources_of(sql)})
    view = restore("view", sql, Compilation.from_json(text))
    mixed = {source: SourceWindow(source, 0, 1, changed=True) for source in view.catalog}
    gains = {source: replace(window, inserts_only=True) for source, window in mixed.items()}
    clocks = moved_clocks({}, dict.fromkeys(view.clocks, ""))
    judged = {each.technique: each for each in verdicts(view, mixed, (), clocks)}
    of_gains = {each.technique: each for each in verdicts(view, gains, (), clocks)}
    cells = tuple(_cell(judged[t], of_gains[t]) for t in _SHOWN)
    parts = _parts(view, frozenset(mixed) | clocks)
    return Covered(_kept(cells, parts), cells, parts if set(cells) & {_OPEN, _INSERTS} else ())


def _cell(mixed: Verdict, gains: Verdict) -> str:
    judged = gains if mixed.technique is Technique.APPEND else mixed
    if judged.sound:
        return _OPEN
    return _INSERTS if gains.sound else f"`{judged.reason.code}`"


def _parts(view: CompiledView, changed: frozenset[str]) -> tuple[str, ...]:
    technique = Technique.REKEY if view.layout.groups is None else Technique.MERGE
    reasons = () if view.is_opaque else recomputed_parts(view, technique, changed)
    return tuple(dict.fromkeys(reason.text.partition(":")[0] for reason in reasons))


def _kept(cells: tuple[str, ...], parts: tuple[str, ...]) -> str:
    _append, merge, delta, rekey = (cell == _OPEN for cell in cells)
    if not (merge or delta or rekey):
        return "rebuild"
    if parts:
        return "sub-tree"
    return "incremental" if merge or delta else "by key"


def coverage_page() -> str:
    """The whole page."""
    said = stored()
    judged = {name: covered(name, said[name]) for name in CONSTRUCTS}
    families = dict.fromkeys(name.split(": ")[0] for name in judged)
    lines = [*_HEAD.splitlines(), "", *_summary(judged, list(families))]
    for family in families:
        lines += ["", f"## {family}", "", *_family(family, judged)]
    return "\n".join([*lines, ""])


def _summary(judged: Mapping[str, Covered], families: list[str]) -> Iterator[str]:
    kinds = ("incremental", "by key", "sub-tree", "rebuild", "refused")
    yield f"| family | constructs | {' | '.join(kinds)} |"
    yield f"|---{'|---:' * (len(kinds) + 1)}|"
    total: Counter[str] = Counter()
    for family in families:
        count = Counter(found.kept for _, found in _of(family, judged))
        total += count
        yield _counted(f"[{family}](#{family.lower()})", count, kinds)
    yield _counted("all", total, kinds)


def _counted(title: str, count: Counter[str], kinds: tuple[str, ...]) -> str:
    return f"| {title} | {count.total()} | {' | '.join(str(count[kind]) for kind in kinds)} |"


def _of(family: str, judged: Mapping[str, Covered]) -> Iterator[tuple[str, Covered]]:
    for name, found in judged.items():
        if name.startswith(f"{family}: "):
            yield name.removeprefix(f"{family}: "), found


def _family(family: str, judged: Mapping[str, Covered]) -> Iterator[str]:
    headers = ["construct", "kept", *(t.value for t in _SHOWN), "part recomputed, or refusal"]
    yield f"| {' | '.join(headers)} |"
    yield "|---" * len(headers) + "|"
    for name, found in _of(family, judged):
        parts = ", ".join(f"`{code}`" for code in found.parts)
        yield f"| {' | '.join([name, f'**{found.kept}**', *found.cells, parts])} |"


def main() -> None:
    """Ask Spark about every construct and store what it says."""
    from headwater.config import load_config  # noqa: PLC0415  (loads only where Spark runs)
    from headwater.execute.session import build_session, stop_session  # noqa: PLC0415

    spark = build_session(load_config(Path(), {}, {"spark": {"spark.master": "local[2]"}}))
    said = compiled(spark)
    stop_session(spark)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in said.items())
    STORED.write_text(f"{{\n{rows}\n}}\n", "utf-8")
    print(f"wrote {STORED}")


if __name__ == "__main__":
    main()
