"""`docs/coverage.md`: which constructs of SQL are kept by which technique, as runs have shown.

`python -m docs.coverage` asks Spark about every construct, runs every technique that is open for it
and stores what came of it in `coverage.json`. The page is made of that and of the planner's
verdicts, without Spark; a test holds the three together.
"""
# ruff: noqa: INP001  (a program beside the pages it writes)

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from docs.constructs import CONSTRUCTS, UNCOMPARED, sources_of
from docs.trials import GAINED, SUB_TREE, Held, Trials, store, stored
from headwater.plan.compiled import Compilation, restore
from headwater.plan.moved import moved_clocks
from headwater.plan.soundness import Verdict, recomputed_parts, verdicts
from headwater.plan.strategies.inputs import SourceWindow
from headwater.plan.view import CompiledView
from headwater.vocabulary.technique import Technique

PAGE = Path(__file__).with_name("coverage.md")
OPEN, INSERTS, UNTESTED, _NONE = "yes", "inserts", "untested", "-"
NOT_COMPARED, NO_SOURCE = "not compared", "no source"
_INCREMENTAL = (Technique.APPEND, Technique.MERGE, Technique.DELTA, Technique.REKEY)
_TOLD = 10
"""So many constructs from one line of progress to the next."""

Trying = Callable[[str], dict[str, Any]]
Keeping = Callable[[Mapping[str, dict[str, Any]], Iterable[str]], None]
"""Keeps what was found, and nothing of those that went wrong."""

_HEAD = """\
# Coverage

This page is written by `python -m docs.coverage` from what runs have shown. Do not edit it.

Each row is a query that the tests keep. The command runs every technique that is open for it, on
small tables with NULLs and duplicates, and holds the outcome against Spark's own result. Kinds of
change are: some rows of every table, or of one alone, come, go and change; tables are emptied, or
filled from nothing, or only gain rows; and where the query asks the clock, it tells another time as
well. The queries of TPC-H are run on a hundred orders or so, under its refresh functions. Where a
technique gives other rows, the command fails and no page is written. A construct is

- **incremental** if only the change is computed: by `append`, `delta` or `merge`;
- **by key** if what the changed rows' keys select is computed before and after: by `rekey`;
- **sub-tree** if a part of the query is computed whole and its difference goes on as a change; the
  column of that name has the part's reason;
- **rebuild** if the whole view is recomputed. `POLICY STRICT` refuses such a view;
- **refused** if Spark itself does not take the query. The last column has its error condition.

*yes* means that the technique was run and gave Spark's rows, under as many kinds of change as the
number says; *inserts*, that this was so while sources only gained rows, and that it is not open
otherwise. *not compared* means that it is open, but that two runs of the query itself differ, so
that there is nothing to hold it against; *no source*, that the query reads none, so that nothing
ever changes. A code is the [reason](errors.md#reasons) why a technique
may not be used: for `append` if sources only gain rows, for the others if all sources change in
every way at once, and the clock with them. A change of fewer sources can open more.
"""


@dataclass(frozen=True)
class Covered:
    """How one construct is kept."""

    kept: str
    cells: tuple[str, ...]  # one per technique of _INCREMENTAL
    parts: str = ""  # the reasons of what is recomputed whole
    rebuild: str = _NONE
    refusal: str = ""

    @property
    def row(self) -> tuple[str, ...]:
        return (f"**{self.kept}**", *self.cells, self.parts, self.rebuild, self.refusal)


def covered(name: str, found: Mapping[str, Any]) -> Covered:
    """The planner's verdicts on a construct beside what its runs gave, or Spark's refusal."""
    said, held = found["said"], found["held"]
    if "refused" in said:
        return Covered("refused", (_NONE,) * len(_INCREMENTAL), refusal=f"`{said['refused']}`")
    view = _restored(CONSTRUCTS[name], said)
    mixed = {source: SourceWindow(source, 0, 1, changed=True) for source in view.catalog}
    gains = {source: replace(window, inserts_only=True) for source, window in mixed.items()}
    clocks = moved_clocks({}, dict.fromkeys(view.clocks, ""))
    judged = {each.technique: each for each in verdicts(view, mixed, (), clocks)}
    of_gains = {each.technique: each for each in verdicts(view, gains, (), clocks)}
    no_source = "" if mixed or clocks else NO_SOURCE
    proof = _Proof(held, NOT_COMPARED if name in UNCOMPARED else no_source)
    cells = tuple(_cell(judged[t], of_gains[t], proof) for t in _INCREMENTAL)
    opened = {t for t in _INCREMENTAL if judged[t].sound}
    is_open = any(of_gains[t].sound for t in _INCREMENTAL)
    codes = _parts(view, frozenset(mixed) | clocks) if is_open else ()
    parts = f"{', '.join(f'`{code}`' for code in codes)}: {proof.of(SUB_TREE)}" if codes else ""
    rebuild = proof.of(Technique.REBUILD)
    return Covered(_kept(opened, codes), cells, parts, rebuild)


def _restored(sql: str, said: Mapping[str, Any]) -> CompiledView:
    text = json.dumps({**said, "sources": sources_of(sql)})
    return restore("view", sql, Compilation.from_json(text))


@dataclass(frozen=True)
class _Proof:
    """What the runs of a construct say about a technique that is open."""

    held: Held
    instead: str = ""  # what is said where nothing can be shown

    def of(self, technique: str, word: str = OPEN, *, gains: bool = False) -> str:
        """The word and how often it was shown; of gains alone, or of any other change too."""
        if self.instead:
            return self.instead
        changes = self.held.get(technique, [])
        proved = GAINED in changes if gains else set(changes) - {GAINED}
        return f"{word} ({len(changes)})" if proved else UNTESTED


def _cell(mixed: Verdict, gains: Verdict, proof: _Proof) -> str:
    technique = mixed.technique
    judged = gains if technique is Technique.APPEND else mixed
    if judged.sound:
        return proof.of(technique, gains=technique is Technique.APPEND)
    if gains.sound:
        return proof.of(technique, INSERTS, gains=True)
    return f"`{judged.reason.code}`"


def _parts(view: CompiledView, changed: frozenset[str]) -> tuple[str, ...]:
    technique = Technique.REKEY if view.layout.groups is None else Technique.MERGE
    reasons = () if view.is_opaque else recomputed_parts(view, technique, changed)
    return tuple(dict.fromkeys(reason.text.partition(":")[0] for reason in reasons))


def _kept(opened: set[Technique], parts: tuple[str, ...]) -> str:
    if not opened:
        return "rebuild"
    if parts:
        return "sub-tree"
    return "incremental" if opened & {Technique.MERGE, Technique.DELTA} else "by key"


def coverage_page() -> str:
    """The whole page."""
    found = stored()
    judged = {name: covered(name, found[name]) for name in CONSTRUCTS}
    families = dict.fromkeys(name.split(": ")[0] for name in judged)
    lines = [*_HEAD.splitlines(), "", *_summary(judged, list(families))]
    lines += ["", *_counts(found.values())]
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


def _counts(found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """How much was run."""
    shown = [technique.value for technique in (*_INCREMENTAL, Technique.REBUILD)]
    held = [each["held"] for each in found]
    yield "| run and equal | constructs | comparisons |"
    yield "|---|---:|---:|"
    for technique in [*shown[:-1], SUB_TREE, shown[-1]]:
        runs = [len(each[technique]) for each in held if technique in each]
        yield f"| {technique} | {len(runs)} | {sum(runs)} |"
    every = [sum(len(each.get(t, ())) for t in shown) for each in held]
    yield f"| all | {sum(map(bool, every))} | {sum(every)} |"


def _of(family: str, judged: Mapping[str, Covered]) -> Iterator[tuple[str, Covered]]:
    for name, found in judged.items():
        if name.startswith(f"{family}: "):
            yield name.removeprefix(f"{family}: "), found


def _family(family: str, judged: Mapping[str, Covered]) -> Iterator[str]:
    techniques = [technique.value for technique in _INCREMENTAL]
    headers = ["construct", "kept", *techniques, SUB_TREE, "rebuild", "refused"]
    yield f"| {' | '.join(headers)} |"
    yield "|---" * len(headers) + "|"
    for name, found in _of(family, judged):
        yield f"| {' | '.join((name, *found.row))} |"


def is_enough(name: str, found: Mapping[str, Any]) -> bool:
    """Whether every technique that is open has been shown to be right once."""
    return not any(UNTESTED in cell for cell in covered(name, found).row)


def run(trying: Trying, names: list[str], keep: Keeping) -> dict[str, str]:
    """What went wrong; what came of each construct is handed to be kept from time to time."""
    found: dict[str, dict[str, Any]] = {}
    wrong: dict[str, str] = {}
    began = time.monotonic()
    for number, name in enumerate(names, 1):
        try:
            found[name] = trying(name)
        except Exception as error:  # noqa: BLE001  (all of them are told at the end)
            wrong[name] = f"{name}: {error}" if name not in str(error) else str(error)
            print(f"FAILED {wrong[name]}", flush=True)
        if number % _TOLD == 0 or number == len(names):
            keep(found, wrong)
            print(f"{number} of {len(names)} in {time.monotonic() - began:.0f} s", flush=True)
    return wrong


def main() -> None:
    """Run the constructs, store what came of them and write the page."""
    from headwater.config import load_config  # noqa: PLC0415  (loads only where Spark runs)
    from headwater.execute.session import build_session, stop_session  # noqa: PLC0415

    options = argparse.ArgumentParser(prog="python -m docs.coverage", description=main.__doc__)
    options.add_argument("--only", metavar="NAME", help="constructs in whose name this occurs")
    options.add_argument("--every", metavar="N", type=int, default=1, help="each so-manieth")
    options.add_argument("--missing", action="store_true", help="of which nothing is stored")
    options.add_argument("--quick", action="store_true", help="each technique once will do")
    chosen = options.parse_args()
    known = stored() if chosen.missing else {}
    names = [n for n in CONSTRUCTS if (chosen.only is None or chosen.only in n) and n not in known]
    spark = build_session(load_config(Path(), {}, {"spark": {"spark.master": "local[2]"}}))
    trials = Trials(spark)
    trying = partial(trials.of, is_enough=is_enough) if chosen.quick else trials.of
    wrong = run(trying, names[:: chosen.every], store)
    stop_session(spark)
    unknown = [f"{name}: never run" for name in CONSTRUCTS if name not in {*stored(), *wrong}]
    if wrong or unknown:
        sys.exit("\n".join(["no page was written:", *wrong.values(), *unknown]))
    PAGE.write_text(coverage_page(), "utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
