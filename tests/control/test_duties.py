"""Definitions to jobs."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta

from headwater.control.duties import duties
from headwater.control.spec import read_spec
from headwater.control.triggers import TargetLag
from headwater.define.definitions import Definitions
from headwater.define.handler import HandlerDef
from headwater.define.source import Cadence
from headwater.define.trigger import Cron, Every, Manual, OnChange
from headwater.testing.fleet import source_def, view_def
from headwater.vocabulary.lifecycle.job import JobKind
from headwater.vocabulary.location import Location

HERE = Location("f.sql", 1, 1)
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


def test_views_of_a_handler_are_placed_together() -> None:
    """The handler is the key, whatever its views read."""
    handler = HandlerDef(
        name="h",
        display="h",
        views=("a", "b"),
        places=(HERE, HERE),
        text="",
        location=HERE,
        name_location=HERE,
    )
    found = specs(source_def("s"), source_def("t"), view_def("a", "s"), view_def("b", "t"), handler)
    assert found["a"][1] == found["b"][1] == "handler:h"


def test_dictionaries_have_a_cadence_of_their_own() -> None:
    """A BATCH source does not make its views run; sys$dictionary does, every eight hours."""
    slow = replace(source_def("codes"), cadence=Cadence.BATCH)
    found = specs(source_def("orders"), slow, view_def("v", "orders", "codes"))
    assert found["v"][2].sources == ("orders",)
    kind, _, spec = found["sys$dictionary"]
    assert (kind, spec.trigger, spec.views) == (JobKind.SYS, Every(EIGHT_HOURS), ("v",))
    assert specs(source_def("orders"))["sys$dictionary"][2].trigger == Manual()


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
