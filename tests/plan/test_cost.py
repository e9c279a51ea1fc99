"""Prices in proportion: what makes a plan dearer, and what does not."""

from __future__ import annotations

import pytest

from headwater.plan.cost import UNKNOWN, Size, model_seconds
from headwater.plan.steps import Overwrite, Patch, ReadChanges, ReadView, RefreshPlan
from headwater.plan.strategies.inputs import SourceWindow
from headwater.vocabulary.algebra import Aggregate, Item, Join, JoinKind, Node, Scan, Window
from headwater.vocabulary.dialect import parsed
from headwater.vocabulary.technique import Technique

ROOT = Scan("t", 0, (("a", "a"),))
JOIN = Join(ROOT, Scan("s", 1, (("b", "b"),)), JoinKind.INNER, None)
PLACED = Window(ROOT, (Item("n", parsed("row_number() OVER (PARTITION BY a ORDER BY a)")),))
CHANGES = ReadChanges("changes", "t", 1, 2, ("a",), inserts_only=False, has_feed=True)
VIEW = Size(rows=20_000_000, files=40)


def window(rows: int = 1_000, reach: float = 1.0, total: int | None = 20_000_000) -> SourceWindow:
    return SourceWindow("t", 1, 2, changed=True, rows=rows, total_rows=total, reach=reach)


def price(
    technique: Technique, changed: SourceWindow, *others: SourceWindow, root: Node = ROOT
) -> float:
    write = Overwrite("write", "rows", ("a",))
    steps = (write,)
    if technique is not Technique.REBUILD:
        steps = (CHANGES, ReadView("view"), Patch("write", "patch", ("a",)))
    windows = {each.source: each for each in (changed, *others)}
    return model_seconds(RefreshPlan(technique, steps), root, windows, VIEW)


def test_a_change_in_few_files_finds_and_rewrites_few() -> None:
    """Rows of one file of forty are followed for a fraction of a rebuild, rows of all are not."""
    near, far = (price(Technique.DELTA, window(reach=share)) for share in (1 / 40, 1.0))
    rebuilt = price(Technique.REBUILD, window())
    assert near < rebuilt / 3
    assert far > near * 5


def test_a_few_percent_of_rows_are_the_turning_point() -> None:
    """Measured on 20 million: 1 % is followed for less than a rebuild costs, 5 % for twice that."""
    rebuilt = price(Technique.REBUILD, window())
    assert price(Technique.DELTA, window(320_000, reach=0.02)) < rebuilt
    assert price(Technique.DELTA, window(1_600_000, reach=0.06)) > rebuilt


@pytest.mark.parametrize("technique", [Technique.MERGE, Technique.REKEY])
def test_groups_lie_by_their_keys(technique: Technique) -> None:
    """Where the sources' rows are says nothing about where their groups are."""
    assert price(technique, window(reach=1 / 40)) == price(technique, window(reach=1.0))


def test_more_changed_rows_are_dearer() -> None:
    """By every incremental technique, and not for a rebuild."""
    for technique in (Technique.DELTA, Technique.MERGE, Technique.REKEY):
        assert price(technique, window(10_000_000)) > price(technique, window(10)) + 10
    assert price(Technique.REBUILD, window(10_000_000)) == price(Technique.REBUILD, window(10))


def test_a_row_is_as_dear_as_the_rows_it_is_joined_with() -> None:
    """A hundred rows of a table a thousandth as large move a hundred thousand, anywhere."""
    facts = SourceWindow("s", 1, 1, changed=False, total_rows=20_000_000)
    few = window(100, reach=0.01, total=20_000)
    alone = price(Technique.DELTA, few, facts)
    joined = price(Technique.DELTA, few, facts, root=JOIN)
    many = price(Technique.DELTA, window(100_000), facts, root=JOIN)
    assert joined > alone * 2
    assert joined == pytest.approx(many, rel=0.05)


def test_a_row_takes_its_partition_along() -> None:
    """Through a window, each changed row costs what several others do."""

    def each(root: Node) -> float:
        few, many = (price(Technique.REKEY, window(n), root=root) for n in (100_000, 200_000))
        return many - few

    assert each(PLACED) > 10 * each(ROOT)


def test_a_source_of_unknown_size_makes_a_rebuild_the_last_resort() -> None:
    """Whether it changed or not."""
    other = SourceWindow("s", 1, 1, changed=False)
    assert price(Technique.REBUILD, window(), other) == UNKNOWN
    assert price(Technique.DELTA, window(), other) < UNKNOWN


def test_few_groups_are_all_computed_anew() -> None:
    """By key a change of some groups of many costs little, one of all groups as much as a query."""
    groups = Aggregate(ROOT, (Item("k", parsed("a")),), (Item("n", parsed("count(*)")),))
    steps = (CHANGES, ReadView("view"), Patch("write", "patch", ("k", "n")))
    plan = RefreshPlan(Technique.REKEY, steps)
    windows = {"t": window(1_000)}
    few, many = (model_seconds(plan, groups, windows, Size(rows, 1)) for rows in (5, 1_000_000))
    assert few > many + 0.5
