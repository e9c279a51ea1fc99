"""Who owns which job, as runners come and go; no Spark, no threads."""

from __future__ import annotations

from datetime import timedelta

from headwater.testing.fleet import Fleet, define, handler_def, source_def, view_def
from headwater.vocabulary.lifecycle.job import JobState
from tests.control.views import define_views, every


def test_each_job_has_one_owner_and_a_leaving_runner_moves_only_its_own(fleet: Fleet) -> None:
    """S1: 3 runners, 300 jobs: one owner each; one leaves, only its jobs move; back: same map."""
    define_views(fleet.ledger, 300, trigger=every(3600))
    for address in ("a", "b", "c"):
        fleet.start(address, slots=50)
    fleet.pass_time(30)
    before = fleet.owners()
    assert set(before.values()) == {"a", "b", "c"}
    fleet.nodes[1].stop()
    fleet.pass_time(15)
    without = fleet.owners()
    assert set(without.values()) == {"a", "c"}
    assert {v: o for v, o in before.items() if o != "b"}.items() <= without.items()
    fleet.start("b", slots=50)
    fleet.pass_time(20)
    assert fleet.owners() == before
    assert all(len(fleet.runs_of(f"v{n}")) == 1 for n in range(300))


def test_a_handler_is_one_job_of_one_runner(fleet: Fleet) -> None:
    """A commit below any of its views is one run of all; without it each has a job again."""
    sources, views = [source_def("s"), source_def("t")], [view_def("a", "s"), view_def("b", "t")]
    define(fleet.ledger, [*sources, *views])
    for address in ("x", "y"):
        fleet.start(address)
    fleet.pass_time(20)
    assert fleet.owners().keys() == {"a", "b"}
    define(fleet.ledger, [handler_def("h", "a", "b")])
    fleet.pass_time(20)
    assert fleet.owners().keys() == {"h"}
    assert len(fleet.runs_of("h")) == 1
    for source in ("s", "t"):
        for node in fleet.nodes:
            node.runner.noticed([source] if source in node.runner.followed else [])
        fleet.pass_time(5)
    assert len(fleet.runs_of("h")) == 3
    assert fleet.job("h").state is JobState.COMPLETED
    fleet.ledger.definitions.remove("HANDLER", "h")
    fleet.pass_time(20)
    assert fleet.owners().keys() == {"a", "b"}


def test_a_dead_runner_is_removed_with_its_jobs_and_commands(fleet: Fleet) -> None:
    """One silent for 30 s is removed and its jobs go to the others, but not earlier."""
    define_views(fleet.ledger, 12, trigger=every(3600))
    a, b = fleet.start("a"), fleet.start("b")
    fleet.pass_time(20)
    theirs = [view for view, owner in fleet.owners().items() if owner == "b"]
    assert theirs
    b.crash()
    fleet.pass_time(18)
    assert {r.address for r in fleet.ledger.runners.list()} == {"a", "b"}
    fleet.pass_time(22)
    assert set(fleet.owners().values()) == {"a"}
    assert a.runner.scheduler.sources is not None
    assert fleet.ledger.commands.pending() == ()


def test_a_restart_at_the_same_address_takes_over_at_once(fleet: Fleet) -> None:
    """S2: a new process at an address evicts the old one's row and gets its jobs at once."""
    define_views(fleet.ledger, 6, trigger=every(3600))
    old = fleet.start("a")
    fleet.pass_time(10)
    old.crash()
    new = fleet.start("a")
    fleet.pass_time(25)
    (runner,) = fleet.ledger.runners.list()
    assert runner.id == new.runner.registration.id
    assert set(fleet.owners().values()) == {"a"}
    assert len(new.runner.scheduler) >= 6


def test_of_two_processes_at_one_address_the_later_stays(fleet: Fleet) -> None:
    """Two runners at one address: the later wins; the earlier stops, waits, and disturbs nobody."""
    define_views(fleet.ledger, 4, trigger=every(5))
    early = fleet.start("a")
    fleet.pass_time(8)
    late = fleet.start("a")
    fleet.pass_time(60)
    (runner,) = fleet.ledger.runners.list()
    assert runner.id == late.runner.registration.id
    assert early.runner.registration.known_id == ""
    assert early.runner.in_hand == 0
    late.stop()
    fleet.pass_time(20)
    (runner,) = fleet.ledger.runners.list()
    assert runner.id == early.runner.registration.known_id


def test_scaling_out_right_before_a_trigger_runs_it_once(fleet: Fleet) -> None:
    """S3: a job that moves to a new runner just before it is due runs exactly once."""
    define_views(fleet.ledger, 20, trigger=every(60))
    fleet.start("a")
    fleet.pass_time(30)
    fleet.runs.clear()
    fleet.pass_time(34)  # first runs began within the first seconds, so all are nearly due
    fleet.start("b")
    fleet.pass_time(56)
    counts = {f"v{n}": len(fleet.runs_of(f"v{n}")) for n in range(20)}
    assert set(counts.values()) == {1}
    assert set(fleet.owners().values()) == {"a", "b"}


def test_a_restart_right_before_a_trigger_runs_it_once(fleet: Fleet) -> None:
    """S4: the next time is in the ledger, so a restart neither loses nor doubles a run."""
    define_views(fleet.ledger, 5, trigger=every(60))
    fleet.start("a")
    fleet.pass_time(55)
    fleet.runs.clear()
    fleet.nodes[0].stop()
    fleet.start("a")
    fleet.pass_time(50)
    assert {len(fleet.runs_of(f"v{n}")) for n in range(5)} == {1}


def test_a_new_view_does_not_wait_for_the_poll(fleet: Fleet) -> None:
    """S5: a new view's first run begins within seconds, far below the 30 s of the reconcile."""
    define_views(fleet.ledger, 1, trigger=every(3600))
    fleet.start("a")
    fleet.pass_time(20)
    define(fleet.ledger, [view_def("new", "s0", trigger=every(3600))])
    defined = fleet.clock.now()
    fleet.pass_time(5)
    (began,) = fleet.runs_of("new")
    assert began - defined <= timedelta(seconds=4)


def test_jobs_that_share_a_table_share_a_runner(fleet: Fleet) -> None:
    """Views on one base table are placed together, also views on views."""
    define(
        fleet.ledger,
        [
            *(source_def(f"s{n}") for n in range(20)),
            *(view_def(f"a{n}", f"s{n}") for n in range(20)),
            *(view_def(f"b{n}", f"s{n}", "s0") for n in range(20)),
            *(view_def(f"c{n}", f"a{n}") for n in range(20)),
        ],
    )
    for address in ("x", "y", "z"):
        fleet.start(address)
    fleet.pass_time(15)
    owners = fleet.owners()
    assert len(set(owners.values())) == 3
    for n in range(20):
        assert owners[f"a{n}"] == owners[f"b{n}"] == owners[f"c{n}"]
