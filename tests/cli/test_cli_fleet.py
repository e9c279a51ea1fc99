"""The verbs about jobs and runners, on a ledger that a fleet without Spark has worked on."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest

from headwater.cli.command import Surroundings
from headwater.cli.main import run
from headwater.config import load_config
from headwater.control.results import SUCCEEDED, result_of
from headwater.define.trigger import Every, Manual
from headwater.store import Ledger
from headwater.testing.clock import FrozenClock
from headwater.testing.fleet import Fleet, define, source_def, view_def
from headwater.vocabulary.errors import StrictRefused


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / ".headwater").mkdir()
    clock = FrozenClock()
    with Ledger.open(load_config(tmp_path, {}, {}).store, clock) as ledger:
        hourly = Every(timedelta(hours=1))
        define(
            ledger,
            [
                source_def("s"),
                view_def("good", "s", trigger=hourly),
                view_def("bad", "s", trigger=hourly),
                view_def("still", "s", trigger=Manual()),
            ],
        )
        fleet = Fleet(ledger, clock)
        failed = result_of(StrictRefused("no incremental technique is sound"))
        fleet.plan = lambda run: (1, failed if run.job.name == "bad" else SUCCEEDED)
        fleet.start("here:1")
        fleet.pass_time(20)
    return tmp_path


def called(project: Path, *words: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    around = Surroundings(stdout=out, stderr=err, clock=FrozenClock())
    return run([*words, "-C", str(project)], around), out.getvalue(), err.getvalue()


def called_json(project: Path, *words: str):
    status, out, _ = called(project, *words, "-o", "json")
    assert status == 0, out
    return json.loads(out)


def test_jobs_tell_owner_state_and_why(project: Path) -> None:
    """Each job with the address of its runner, its state, its next run and its error."""
    status, out, _ = called(project, "jobs")
    assert status == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "here:1" in lines["good"]
    assert "in 1 h" in lines["good"]
    assert "error" in lines["bad"]
    assert "STRICT_REFUSED (1 failure in a row)" in lines["bad"]
    assert {"sys$coordinator", "sys$dictionary"} <= lines.keys()
    (good,) = called_json(project, "jobs", "GOOD")
    assert (good["name"], good["address"], good["state"]) == ("good", "here:1", "completed")
    assert good["spec"]["trigger"] == {"every": 3600.0}


def test_runners_tell_who_leads(project: Path) -> None:
    """Each process with its jobs, and which of them leads."""
    (runner,) = called_json(project, "runners")
    jobs = len(called_json(project, "jobs"))
    assert (runner["address"], runner["jobs"], runner["leads"]) == ("here:1", jobs, True)
    assert jobs >= len(["good", "bad", "still"])
    assert "here:1" in called(project, "runners")[1]


def test_pause_and_resume(project: Path) -> None:
    """A paused job says so; resuming a job that an error stopped lets it go on."""
    assert called_json(project, "pause", "good", "still") == [
        {"job": "good", "done": True},
        {"job": "still", "done": True},
    ]
    assert "paused" in called(project, "jobs", "good")[1]
    called_json(project, "resume", "good", "bad")
    (bad,) = called_json(project, "jobs", "bad")
    assert (bad["state"], bad["error"], bad["paused"]) == ("completed", None, False)


def test_drain_and_undo(project: Path) -> None:
    """By address or id; doing it twice is refused with the state it is in."""
    assert called_json(project, "drain", "here:1")["state"] == "draining"
    status, _, err = called(project, "drain", "here:1")
    assert status == 1
    assert "STATE_CONFLICT" in err
    (runner,) = called_json(project, "runners")
    assert called_json(project, "drain", runner["runner"], "--undo")["state"] == "active"


@pytest.mark.parametrize(
    "words",
    [("pause", "nothing"), ("resume", "nothing"), ("drain", "nowhere"), ("jobs", "nothing")],
)
def test_unknown_names_are_coded_errors(project: Path, words: tuple[str, ...]) -> None:
    """Nothing changes, and the message says where the names are."""
    status, _, err = called(project, *words)
    assert status == 1
    assert "UNKNOWN_NAME" in err
    assert "lists them" in err
