"""Who reads whom."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.define import graph
from headwater.define.definitions import Definitions
from headwater.define.kind import Kind
from headwater.define.source import SourceDef
from headwater.define.view import ViewDef
from headwater.testing.fleet import handler_def
from headwater.vocabulary.location import Location

HERE = Location("f.sql", 1, 1)


def source(name: str) -> SourceDef:
    return SourceDef(name=name, display=name, path=name, text="", location=HERE, name_location=HERE)


def view(name: str, *tables: str) -> ViewDef:
    return ViewDef(
        name=name,
        display=name,
        query="",
        query_location=HERE,
        normal_query="",
        tables=tables,
        text="",
        location=HERE,
        name_location=HERE,
    )


DIAMOND = Definitions.of(
    [
        source("s"),
        source("r"),
        view("top", "Left", "right"),
        view("left", "S"),
        view("right", "s", "r"),
        view("alone", "r"),
        view("under", "TOP", "r"),
    ]
)


def test_direct_neighbours() -> None:
    """A view's own tables, and the views that read a table, whatever the case."""
    assert graph.dependencies(DIAMOND, "Top") == ("left", "right")
    assert graph.dependencies(DIAMOND, "right") == ("s", "r")
    assert graph.dependents(DIAMOND, "S") == ("left", "right")
    assert graph.dependents(DIAMOND, "under") == ()


def test_what_moves_together() -> None:
    """A view takes along what it reads, and whoever moves takes along its handler."""
    assert graph.moved_together(DIAMOND, ["Top"]) == {"top", "left", "right"}
    handled = DIAMOND.with_(handler_def("h", "right", "alone", "gone"))
    assert graph.moved_together(handled, ["left"]) == {"left"}
    assert graph.moved_together(handled, ["alone"]) == {"alone", "right"}
    assert graph.moved_together(handled, ["top"]) == {"top", "left", "right", "alone"}


def test_all_above() -> None:
    """Ancestors come in an order that can be refreshed."""
    assert graph.ancestors(DIAMOND, "under") == ("left", "right", "top")
    assert graph.ancestors(DIAMOND, "left") == ()
    assert graph.base_sources(DIAMOND, "under") == ("r", "s")
    assert graph.base_sources(DIAMOND, "left") == ("s",)


def test_levels_put_independent_views_together() -> None:
    """Both arms of a diamond are one level."""
    assert graph.levels(DIAMOND, DIAMOND.views) == (
        ("alone", "left", "right"),
        ("top",),
        ("under",),
    )


def test_levels_of_a_part_still_see_the_way_through_the_rest() -> None:
    """A view that is computed from another by way of a third still comes after it."""
    assert graph.levels(DIAMOND, ["under", "LEFT"]) == (("left",), ("under",))
    assert graph.levels(DIAMOND, []) == ()


def test_no_circle_in_a_diamond() -> None:
    """Reading the same thing on two ways is no circle."""
    assert graph.find_cycles(DIAMOND) == ()


def test_a_circle_is_told_in_reading_order_from_its_first_view() -> None:
    """a reads b, b reads c, c reads a: a, b, c, a."""
    views = [view("x", "a"), view("b", "c"), view("c", "a", "x"), view("a", "b")]
    assert graph.find_cycles(Definitions.of(views[1:])) == (("b", "c", "a", "b"),)
    assert graph.find_cycles(Definitions.of([view("v", "V")])) == (("v", "v"),)


def test_a_long_chain_needs_no_deep_stack() -> None:
    """Thousands of views in a row are walked without recursion."""
    views = [view("v0", "s"), *(view(f"v{n}", f"v{n - 1}") for n in range(1, 5000))]
    chain = Definitions.of([source("s"), *views])
    assert graph.ancestors(chain, "v4999")[-1] == "v4998"
    assert graph.base_sources(chain, "v4999") == ("s",)
    assert graph.find_cycles(chain.with_(view("v0", "v4999")))


@given(st.lists(st.sets(st.integers(0, 11)), min_size=1, max_size=12), st.sets(st.integers(0, 11)))
def test_levels_respect_every_way_of_reading(reads: list[set[int]], chosen: set[int]) -> None:
    """For any graph without circles, whatever a view is computed from is in an earlier level."""
    views = [view(f"v{n}", *(f"v{m}" for m in read if m < n)) for n, read in enumerate(reads)]
    definitions = Definitions.of(views)
    wanted = [f"v{n}" for n in chosen if n < len(reads)]
    levels = graph.levels(definitions, wanted)
    place = {name: index for index, level in enumerate(levels) for name in level}
    assert sorted(place) == sorted(wanted)
    for name in wanted:
        above = [place[a] for a in graph.ancestors(definitions, name) if a in place]
        assert place[name] == max(above, default=-1) + 1


def test_definitions_change_by_making_new_ones() -> None:
    """Adding, replacing and removing leave the old set as it was."""
    more = DIAMOND.with_(view("left", "r"))
    assert more.views["left"].tables == ("r",)
    assert DIAMOND.views["left"].tables == ("S",)
    less = DIAMOND.without(Kind.VIEW, "LEFT")
    assert "left" not in less.views
    assert less.without(Kind.VIEW, "left") == less
    assert DIAMOND.find(Kind.SOURCE, "S") == source("s")
    assert DIAMOND.find(Kind.HANDLER, "s") is None
    assert DIAMOND.table("Top") == DIAMOND.views["top"]
    assert len(DIAMOND.all()) == 7
