"""BATCH sources: read on a cadence of their own, or on demand, and never by halves."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.attempt.request import Request
from headwater.control.results import SUCCEEDED
from headwater.graph.refreshing import Outcome, refresh_views
from headwater.vocabulary.receipt import Receipt
from headwater.vocabulary.technique import Technique
from tests import tables
from tests.scenarios.lake import Lake

ORDERS, CODES, RATES = (
    "id INT, code STRING, amount INT",
    "code STRING, word STRING, note STRING",
    ("name STRING, factor INT"),
)
VIEWS = {
    "priced": """SELECT o.id, c.word, o.amount * r.factor AS price
        FROM orders o JOIN codes c ON o.code = c.code JOIN rates r ON r.name = 'now'""",
    "per_word": "SELECT word, sum(price) AS total, count(*) AS n FROM priced GROUP BY word",
    "words": "SELECT code, upper(word) AS word FROM codes",
    "joined": """SELECT p.id, p.word, w.code FROM priced p
        LEFT JOIN words w ON upper(p.word) = w.word""",
}


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    lake = shared_lake
    lake.source("orders", ORDERS, [(n, "abc"[n % 3], n) for n in range(9)])
    lake.dictionary("codes", CODES, [(code, code * 2, "") for code in "abcd"])
    lake.dictionary("rates", RATES, [("now", 10), ("then", 9)])
    for name, query in VIEWS.items():
        lake.view(name, query)
    return lake


def automatic(lake: Lake, *views: str, dictionaries: bool = False) -> Outcome:
    """As a runner refreshes: for a view's own trigger, or for the dictionary cadence."""
    request = Request(manual=False, dictionaries=dictionaries)
    return refresh_views(lake.hw.workspace, views or VIEWS, request)


def passed(lake: Lake, *views: str) -> dict[str, Receipt]:
    outcome = automatic(lake, *views, dictionaries=True)
    assert outcome.failures == {}
    return outcome.receipts


def assert_exact(lake: Lake, *views: str, **versions: int) -> None:
    """The views name these versions, and hold what Spark finds at them."""
    for view, expected in lake.recomputed(*views, **versions).items():
        read = lake.read(view)
        assert {name: read[name] for name in read if name in versions} == {
            name: versions[name] for name in read if name in versions
        }
        assert lake.stored(view) == expected, view


def test_a_dictionary_waits_for_its_cadence(lake: Lake) -> None:
    """A job of a view follows the stream and leaves dictionaries alone, sys$dictionary does not."""
    lake.change("codes", update={"word": "'new'"}, where="code = 'a'")
    lake.insert("orders", (100, "a", 7))
    for view in ("per_word", "joined"):
        assert lake.run_job(view) == SUCCEEDED
    assert_exact(lake, *VIEWS, orders=1, codes=0, rates=0)
    assert lake.hw.verify("priced").equal
    (status,) = (status for status in lake.hw.status() if status.view == "priced")
    assert (status.behind, status.lag_seconds) == ({"orders": 0, "codes": 1, "rates": 0}, 0)
    assert status.dictionaries == ("codes", "rates")
    assert lake.run_job("sys$dictionary") == SUCCEEDED
    assert {receipt.technique for receipt in lake.refresh().values()} == {Technique.SKIP}
    lake.assert_right(verify=())


def test_what_a_dictionary_pass_writes(lake: Lake) -> None:
    """S63: an unused field: nothing; a used one: matching rows only; two at once; a constant."""
    before = lake.version("priced")
    lake.change("codes", update={"note": "'seen'"}, where="code = 'b'")
    receipt = passed(lake)["priced"]
    assert (receipt.technique, lake.version("priced")) == (Technique.SKIP, before)
    assert lake.read("priced")["codes"] == lake.version("codes")

    lake.change("codes", update={"word": "'used'"}, where="code = 'b'")
    receipt = passed(lake)["priced"]
    assert (receipt.rows_inserted, receipt.rows_deleted) == (3, 3)

    lake.change("rates", update={"factor": "8"}, where="name = 'then'")
    lake.change("codes", update={"word": "'no order'"}, where="code = 'd'")
    receipt = passed(lake)["priced"]
    assert (receipt.rows_inserted, receipt.rows_deleted) == (0, 0)

    lake.change("rates", update={"factor": "11"}, where="name = 'now'")
    lake.change("codes", delete="code = 'c'")
    receipt = passed(lake)["priced"]
    assert receipt.rows_deleted >= 9  # order 0 costs nothing at any rate
    lake.assert_right(verify=())


def test_an_interrupted_pass_moves_no_dictionary(lake: Lake) -> None:
    """S64: the part of the frontier for the dictionary stays until its pass is committed."""
    read, content = lake.read("priced"), lake.stored("priced")
    lake.change("rates", update={"factor": "12"}, where="name = 'now'")
    lake.insert("orders", (200, "a", 1))

    def interrupt(step: str) -> None:
        if step == "commit":
            lake.hw.workspace.stop()

    lake.on_step = interrupt
    failures = automatic(lake, "per_word", dictionaries=True).failures
    lake.on_step = lambda _step: None
    assert {error.code for error in failures.values()} == {"REFRESH_CANCELED"}
    assert (lake.read("priced"), lake.stored("priced")) == (read, content)
    assert automatic(lake, "per_word").failures == {}
    assert_exact(lake, "priced", "per_word", orders=lake.version("orders"), rates=read["rates"])
    passed(lake, "per_word")
    lake.assert_right("priced", "per_word", verify=["priced"])


def test_two_paths_meet_at_one_version_of_a_dictionary(lake: Lake) -> None:
    """A graph goes to the highest version that one of its views has read, not to the newest."""
    lake.change("codes", update={"word": "'x'"}, where="code = 'a'")
    lake.hw.refresh("words")
    ahead = lake.read("words")["codes"]
    assert ahead > lake.read("priced")["codes"]
    lake.change("codes", update={"word": "'y'"}, where="code = 'a'")
    assert automatic(lake, "joined").failures == {}
    assert_exact(lake, "priced", "words", "joined", codes=ahead)
    lake.hw.refresh("joined", dictionaries=False)
    assert lake.read("words")["codes"] == ahead
    lake.hw.refresh("joined", as_of={"codes": ahead + 1})
    assert lake.read("priced")["codes"] == lake.read("words")["codes"] == ahead + 1


def test_a_version_that_is_gone_is_not_held(lake: Lake) -> None:
    """Where the table as of the version that was read cannot be read any more, it moves on."""
    path = Path(lake.path("codes"))
    lake.refresh()
    files = set(path.glob("*.parquet"))
    lake.change("codes", update={"word": "'z'"}, where="true")
    alive = {path / name for name in tables.files(str(path))}
    for old in files - alive:
        old.unlink()
    lake.insert("orders", (300, "a", 1))
    assert automatic(lake, "priced", "words").failures == {}
    lake.assert_right("priced", "words", verify=())
