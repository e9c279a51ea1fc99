"""Definitions to jobs."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

from headwater.control.duties import duties
from headwater.control.spec import read_spec
from headwater.control.triggers import TargetLag, Together
from headwater.define.definitions import Definitions
from headwater.define.source import Cadence
from headwater.define.trigger import Cron, Every, Manual, OnChange
from headwater.testing.fleet import handler_def, source_def, view_def
from headwater.vocabulary.lifecycle.job import JobKind

EIGHT_HOURS, THREE = timedelta(hours=8), 3


def specs(*definitions: object) -> dict[str, tuple]:
    found = duties(Definitions.of(definitions), EIGHT_HOURS, THREE)  # type: ignore[arg-type]
    return {d.name: (d.kind, d.placed_by, read_spec(d.spec)) for d in found.values()}


def test_a_view_follows_the_sources_at_its_bottom_and_is_placed_by_its_first_table() -> None:
    """Through other views too, so that a whole graph on one table lands together."""
    found = specs(
        source_def("orders"),
        source_def("people"),
        view_def("big", "orders", "people"),
        view_def("bigger", "big"),
        view_def("other", "people", "big"),
    )
    kind, placed_by, spec = found["bigger"]
    assert (kind, placed_by, spec.sources) == (JobKind.REFRESH, "orders", ("orders", "people"))
    assert spec.trigger == OnChange()
    assert found["other"][1] == "people"


def test_a_handler_is_one_job() -> None:
    """What makes one of its views run makes all run; the handler is the key of its place."""
    slow = replace(view_def("b", "t"), trigger=Every(EIGHT_HOURS), warn_after=EIGHT_HOURS)
    quick = replace(view_def("a", "s"), warn_after=2 * EIGHT_HOURS)
    idle = replace(view_def("c", "t"), trigger=Manual())
    sources = (source_def("s"), source_def("t"))
    found = specs(*sources, quick, slow, idle, view_def("d", "t"), handler_def("h", "a", "b", "c"))
    kind, placed_by, spec = found["h"]
    assert (kind, placed_by, spec.views) == (JobKind.REFRESH, "handler:h", ("a", "b", "c"))
    assert spec.trigger == Together((OnChange(), Every(EIGHT_HOURS)))
    assert (spec.sources, spec.follows_commits) == (("s",), True)
    assert (spec.warn_after, spec.overdue_after) == (EIGHT_HOURS, None)
    assert {name for name, (each, _, _) in found.items() if each is JobKind.REFRESH} == {"h", "d"}


def test_a_handler_of_one_mind_has_that_trigger() -> None:
    """Equal triggers are one; views that never run by themselves leave the handler to others."""
    source = source_def("s")
    a, b = view_def("a", "s"), view_def("b", "s")
    assert specs(source, a, b, handler_def("h", "a", "b"))["h"][2].trigger == OnChange()
    idle = [replace(view, trigger=Manual()) for view in (a, b)]
    assert specs(source, *idle, handler_def("h", "a", "b"))["h"][2].trigger == Manual()


def test_dictionaries_have_a_cadence_of_their_own() -> None:
    """A BATCH source does not make its views run; sys$dictionary does, every eight hours."""
    slow = replace(source_def("codes"), cadence=Cadence.BATCH)
    found = specs(source_def("orders"), slow, view_def("v", "orders", "codes"))
    assert found["v"][2].sources == ("orders",)
    kind, _, spec = found["sys$dictionary"]
    assert (kind, spec.trigger, spec.views) == (JobKind.SYS, Every(EIGHT_HOURS), ("v",))
    assert specs(source_def("orders"))["sys$dictionary"][2].trigger == Manual()
    assert specs(slow, view_def("v", "codes"))["v"][2].sources == ()


def test_downstream_lags_are_resolved_through_the_graph() -> None:
    """A DOWNSTREAM view gets the lag that its readers need."""
    minute = timedelta(minutes=1)
    found = specs(
        source_def("s"),
        view_def("below", "s", target_lag="DOWNSTREAM"),
        view_def("above", "below", target_lag=minute),
    )
    assert found["below"][2].trigger == TargetLag(minute)


def test_what_headwater_manages_is_purged() -> None:
    """One job for the tables of all views; sources are their users'."""
    assert "sys$purge" not in specs(source_def("orders"))
    found = specs(source_def("orders"), view_def("v", "orders"), view_def("w", "orders"))
    purges = {name: spec.trigger for name, (kind, _, spec) in found.items() if kind == "purge"}
    assert purges == {"sys$purge": Cron("30 3 * * *")}


def test_many_views_take_time_in_proportion() -> None:
    """Twice as many views take about twice as long, not four times."""

    def seconds(count: int) -> float:
        views = [view_def(f"v{n}", f"s{n % 50}") for n in range(count)]
        definitions = Definitions.of([*(source_def(f"s{n}") for n in range(50)), *views])
        best = 1e9
        for _ in range(3):
            began = time.process_time()
            duties(definitions, EIGHT_HOURS, THREE)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(4000) < 8 * seconds(1000)
