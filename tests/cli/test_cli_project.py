"""The verbs on a real project, as `init` makes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from headwater.cli.command import Surroundings
from headwater.cli.main import run
from headwater.cli.output import TextOutput
from headwater.cli.stopping import INTERRUPTED
from headwater.store.ledger import Ledger
from headwater.vocabulary.clock import SystemClock
from tests.cli.conftest import Project

VIEWS = ["large_markets", "open_orders", "revenue_by_country"]
INSERT = "INSERT INTO {orders} VALUES (%d, 3, DATE'2026-03-01', 'open', 100.00)"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# --- before the views are built -----------------------------------------------------------------


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    """A second `init` in the same folder is refused and changes no file."""
    words = ["init", str(tmp_path / "shop")]
    assert run(words, Surroundings(StringIO(), StringIO())) == 0
    before = files(tmp_path)
    err = StringIO()
    assert run(words, Surroundings(StringIO(), err)) == 1
    assert "[PROJECT_EXISTS]" in err.getvalue()
    assert files(tmp_path) == before


def test_check_and_plan_write_nothing(fresh: Project) -> None:
    """S58: check and plan leave the folder as it was, even without a ledger."""
    before = files(fresh.folder)
    checked, planned = fresh("check"), fresh("plan", "-o", "json")
    assert (checked.status, checked.out) == (0, "VALID: 0 errors, 0 warnings\n")
    assert {action["name"] for action in planned.json} >= set(VIEWS)
    assert files(fresh.folder) == before


def test_check_shows_every_error_at_its_place(fresh: Project) -> None:
    """S57: invalid definitions end with status 1, position, source line and a suggestion."""
    path = fresh.folder / "views" / "open_orders.sql"
    path.write_text(path.read_text().replace("o.amount", "o.amuont"))
    ran = fresh("check")
    assert ran.status == 1
    assert ran.out.startswith("INVALID: 1 error")
    assert "views/open_orders.sql:4:" in ran.out
    assert "^^^" in ran.out
    assert "did you mean `amount`" in ran.out
    report = fresh("check", "--no-spark", "-o", "json")
    assert report.status == 1
    assert report.json["errors"][0]["code"] == "UNKNOWN_COLUMN"


def test_planned_sql_runs(fresh: Project) -> None:
    """S58: `plan --sql` is a script that makes the very content of the views."""
    ran = fresh("plan", "--sql", "-o", "json")
    assert [script["view"] for script in ran.json][-1] == "large_markets"
    session = fresh.spark.newSession()
    for script in ran.json:
        for statement in script["sql"]:
            session.sql(statement)
    markets = session.read.format("delta").load(f"{fresh.folder}/warehouse/large_markets")
    assert markets.count() > 0
    text = fresh("plan", "--sql").out
    assert text.startswith("-- view open_orders\n")


def test_a_view_that_is_not_built_is_refused(fresh: Project) -> None:
    """A view that `apply` has not built yet is an unknown name, with status 1."""
    ran = fresh("refresh", "open_orders")
    assert ran.status == 1
    assert "[UNKNOWN_NAME]" in ran.err


def test_an_interrupted_apply_can_be_repeated(
    fresh: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An apply stopped in the middle leaves nothing claimed, and the next one finishes it."""
    interrupt_at(monkeypatch, "commit")
    assert fresh("apply").status == INTERRUPTED
    monkeypatch.undo()
    assert claims(fresh.folder) == ()
    ran = fresh("apply")
    assert ran.status == 0, ran.err
    assert fresh("verify").status == 0


# --- built --------------------------------------------------------------------------------------


def test_apply_twice_does_nothing(applied: Project) -> None:
    """An apply on an unchanged project finds nothing to do."""
    assert applied("apply").out.startswith("nothing to do")
    assert applied("plan", "-o", "json").json == []


def test_a_refresh_with_nothing_to_do_is_light(applied: Project) -> None:
    """No JVM, no pyspark and no drawing library is loaded to learn that nothing changed."""
    script = (
        "import sys; from headwater.cli.main import run; status = run(sys.argv[1:]); "
        "heavy = {'pyspark', 'rich', 'deltalake', 'pyarrow', 'sqlalchemy'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else status)"
    )
    words = ["refresh", "large_markets", "-C", str(applied.folder)]
    ran = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("skip") == 2


def test_refresh_tells_what_it_did(applied: Project) -> None:
    """A line per view as text; receipts with technique, rows and profile as JSON."""
    applied.change(INSERT % 901)
    ran = applied("refresh", "open_orders", "--profile", "--technique", "append")
    assert ran.status == 0
    assert ran.out.startswith("open_orders  ")
    assert "+1 -0 rows" in ran.out
    assert "└─ " in ran.out
    ran = applied("refresh", "-o", "json")
    receipts = {receipt["view"]: receipt for receipt in ran.json["receipts"]}
    assert ran.json["failures"] == []
    assert sorted(receipts) == VIEWS
    assert receipts["open_orders"]["technique"] == "skip"
    assert receipts["revenue_by_country"]["rows_inserted"] >= 1


def test_a_dry_run_prints_the_steps_and_does_nothing(applied: Project) -> None:
    """`--dry-run` shows the steps of every view on the way and moves no frontier."""
    applied.change(INSERT % 902)
    ran = applied("refresh", "large_markets", "--dry-run")
    assert ran.status == 0
    assert "steps of" in ran.out
    assert "read inserts of orders" in ran.out
    assert any(
        "orders" in status["behind"] and status["behind"]["orders"] == 1
        for status in applied("status", "-o", "json").json
    )
    assert applied("refresh").status == 0


def test_a_technique_that_is_not_sound_is_refused(applied: Project) -> None:
    """A forced technique is used or refused with its reason, never replaced by another."""
    applied.change("DELETE FROM {orders} WHERE order_id = 902")
    ran = applied("refresh", "open_orders", "--technique", "append")
    assert ran.status == 1
    assert "[TECHNIQUE_REFUSED]" in ran.err
    assert applied("refresh").status == 0


def test_as_of_stops_at_a_version(applied: Project) -> None:
    """S23: `--as-of` goes to a version and not beyond; below the frontier is an error."""
    applied.change(INSERT % 903)
    applied.change(INSERT % 904)
    versions = {s["source"]: s["version"] for s in applied("sources", "-o", "json").json}
    wanted = versions["orders"] - 1
    ran = applied("refresh", "open_orders", "--as-of", f"orders={wanted}", "-o", "json")
    assert ran.json["receipts"][0]["frontier"]["orders"]["version"] == wanted
    assert applied("refresh").status == 0
    ran = applied("refresh", "open_orders", "--as-of", f"orders={wanted}", "-o", "json")
    assert ran.status == 1
    assert ran.json["failures"][0]["error"]["code"] == "AS_OF_BELOW_FRONTIER"
    assert applied("refresh", "open_orders", "--as-of", "3").status == 2


def test_status_and_history_and_sources(applied: Project) -> None:
    """The looking verbs answer in text and JSON without Spark."""
    assert [s["view"] for s in applied("status", "-o", "json").json] == VIEWS
    assert "up to date" in applied("status").out
    attempts = applied("history", "open_orders", "--limit", "2", "-o", "json").json
    assert len(attempts) == 2
    assert {a["view"] for a in attempts} == {"open_orders"}
    older = applied("history", "--before", attempts[-1]["attempt"], "-o", "json").json
    assert attempts[-1]["attempt"] not in {a["attempt"] for a in older}
    assert applied("history", "nothing").status == 1
    assert applied("sources", "-o", "json").json[1]["readers"] == [
        "open_orders",
        "revenue_by_country",
    ]


def test_explain_prints_what_runs(applied: Project) -> None:
    """Explain names the technique, why the others are closed, the steps and their SQL."""
    found = applied("explain", "revenue_by_country", "-o", "json").json
    assert found["technique"] == "skip"
    assert {t["technique"] for t in found["techniques"]} >= {"merge", "rebuild"}
    text = applied("explain", "revenue_by_country").out
    assert "steps of " in text
    sql = applied("explain", "revenue_by_country", "--sql").out
    assert "INSERT OVERWRITE" in sql
    assert applied("explain", "nothing").status == 1


def test_changes_shows_rows_that_came_and_went(applied: Project) -> None:
    """A view's own changes are netted per version, without hidden columns."""
    found = applied("changes", "revenue_by_country", "--limit", "1", "-o", "json").json
    assert found["more"]
    assert set(found["rows"][0]) == {
        "country", "orders", "revenue", "_change_type", "_commit_version", "_commit_timestamp",
    }  # fmt: skip
    assert applied("changes", "open_orders", "--since", "999").status == 2
    since = str(newest(applied, "open_orders"))
    assert applied("changes", "open_orders", "--since", since).out.startswith("no change since")


def newest(project: Project, view: str) -> int:
    attempts = project("history", view, "-o", "json").json
    return max(attempt["table_version"] or 0 for attempt in attempts)


def test_verify_is_status_1_where_rows_differ(applied: Project) -> None:
    """S28: equal views pass; a tampered one is found, its rows are shown, nothing is repaired."""
    ran = applied("verify")
    assert ran.status == 0
    assert ran.out.count("equal") == 3
    place = f"delta.`{applied.folder}/warehouse/open_orders`"
    applied.spark.sql(f"DELETE FROM {place} WHERE order_id = 901")
    ran = applied("verify", "open_orders", "-o", "json")
    assert ran.status == 1
    assert ran.json[0]["missing"] == 1
    assert len(ran.json[0]["rows"]["missing"]) == 1
    assert "missing rows" in applied("verify", "open_orders").out
    assert applied("verify", "open_orders", "--where", "order_id > 1000000").status == 0
    assert applied("verify", "open_orders", "--where", "no_such = 1").status == 2
    refused = applied("refresh", "open_orders")
    assert refused.status == 1
    assert "[VIEW_TAMPERED]" in refused.err
    assert applied("refresh", "open_orders", "--full").status == 0
    assert applied("verify", "open_orders").status == 0


def test_cancel_needs_a_running_attempt(applied: Project) -> None:
    """An id that nobody has is unknown; one that is done cannot be stopped any more."""
    assert "[UNKNOWN_NAME]" in applied("cancel", "nobody").err
    assert applied("refresh", "open_orders").status == 0
    done = applied("history", "--limit", "1", "-o", "json").json[0]["attempt"]
    ran = applied("cancel", done)
    assert (ran.status, ran.out) == (1, f"attempt {done} is succeeded\n")


def test_migrate_says_where_the_ledger_is(applied: Project) -> None:
    """The ledger's revision is told, and a second migration changes nothing."""
    assert applied("migrate", "-o", "json").json["before"] is not None
    assert "was up to date" in applied("migrate").out


def test_watch_refreshes_when_a_source_moves(
    applied: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`refresh --watch` follows its sources, writes no history while idle, and ends by ^C."""
    naps = 0

    def nap(_clock: SystemClock, _seconds: float) -> None:
        nonlocal naps
        naps += 1
        if naps == 2:
            applied.change(INSERT % 905)
        if naps == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(SystemClock, "sleep", nap)
    ran = applied("refresh", "open_orders", "--watch")
    assert ran.status == INTERRUPTED
    assert ran.out.count("open_orders") == 2
    assert "canceled" in ran.err
    assert applied("refresh").status == 0


# --- stopping -----------------------------------------------------------------------------------


def interrupt_at(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Send this process ^C when a refresh is about to begin a step."""

    def interrupt(_output: TextOutput, name: str) -> None:
        if name == step:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)  # the main thread is told, and asks us to stop

    monkeypatch.setattr(TextOutput, "step", interrupt)


def claims(folder: Path) -> tuple[object, ...]:
    with Ledger.open(f"sqlite:///{folder}/.headwater/ledger.db", SystemClock()) as ledger:
        return ledger.claims.list()


@pytest.mark.parametrize("step", ["capture", "plan", "commit"])
def test_an_interrupted_refresh_leaves_nothing_claimed(
    applied: Project, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """^C in the middle: status 130, `canceled` in the history, content as before, claim free."""
    applied.change(INSERT % {"capture": 906, "plan": 907, "commit": 908}[step])
    interrupt_at(monkeypatch, step)
    ran = applied("refresh", "open_orders")
    monkeypatch.undo()
    assert ran.status == INTERRUPTED
    assert ran.err.endswith("canceled\n")
    assert claims(applied.folder) == ()
    newest = applied("history", "open_orders", "--limit", "1", "-o", "json").json[0]
    assert newest["state"] == "canceled"
    assert applied("verify", "open_orders").status == 0
    assert applied("refresh").status == 0


def test_an_interruption_while_a_worker_is_started_waits_for_it(
    applied: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller has not yet noted the worker that it has just begun."""
    begun, submit = threading.Event(), ThreadPoolExecutor.submit

    def step(_output: TextOutput, name: str) -> None:
        if name == "capture":
            begun.set()
            time.sleep(1)

    def interrupted(*given: Any, **named: Any) -> None:
        submit(*given, **named)
        begun.wait(30)
        raise KeyboardInterrupt

    applied.change(INSERT % 909)
    monkeypatch.setattr(TextOutput, "step", step)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    ran = applied("refresh", "open_orders")
    monkeypatch.undo()
    assert ran.status == INTERRUPTED
    assert claims(applied.folder) == ()
    newest = applied("history", "open_orders", "--limit", "1", "-o", "json").json[0]
    assert newest["state"] == "canceled"
    assert applied("refresh").status == 0
