"""Definitions, the statements that others may edit, and what is known of sources."""

from __future__ import annotations

from headwater.store import Ledger
from headwater.store.dialects import open_database
from headwater.store.queries import Query
from headwater.testing.clock import FrozenClock
from headwater.vocabulary.location import Location


def test_a_definition_is_replaced_by_kind_and_name(ledger: Ledger, clock: FrozenClock) -> None:
    """Putting a definition again replaces text, place and fingerprint; other kinds stay."""
    ledger.definitions.put("view", "v", "old", "a.sql", 1, 2, "f1")
    ledger.definitions.put("source", "v", "source text", "a.sql", 9, 1, "f9")
    clock.advance(5)
    ledger.definitions.put("view", "v", "new", "b.sql", 3, 4, "f2")
    found = ledger.definitions.get("view", "v")
    assert found is not None
    assert (found.text, found.fingerprint) == ("new", "f2")
    assert found.location == Location("b.sql", 3, 4)
    assert found.updated_at == clock.now()
    other = ledger.definitions.get("source", "v")
    assert other is not None
    assert other.text == "source text"


def test_definitions_are_listed_by_kind_and_removed(ledger: Ledger) -> None:
    """Listing can be limited to a kind; removing tells whether there was one."""
    for kind, name in [("view", "b"), ("view", "A"), ("source", "z")]:
        ledger.definitions.put(kind, name, "text", "<sql>", 1, 1, "f")
    assert [d.name for d in ledger.definitions.list("view")] == ["A", "b"]
    assert [d.name for d in ledger.definitions.list()] == ["z", "A", "b"]
    assert ledger.definitions.remove("view", "b")
    assert not ledger.definitions.remove("view", "b")
    assert ledger.definitions.get("view", "b") is None


def test_text_comes_back_as_it_was(ledger: Ledger) -> None:
    """Quotes, percent signs, colons and other scripts survive."""
    text = "SELECT '100%', \"a:b\", ':name', '%s' -- ünïcödé 漢字 🌊\n\tFROM t"
    ledger.definitions.put("view", "v:%s", text, "dir with blank/v.sql", 1, 1, "f")
    found = ledger.definitions.get("view", "v:%s")
    assert found is not None
    assert found.text == text


def test_another_application_may_edit_the_statements(ledger: Ledger, ledger_url: str) -> None:
    """A row inserted by plain SQL from outside is listed in the order of its number."""
    ledger.statements.put(20, "second")
    ledger.statements.put(30, "third")
    outsider = open_database(ledger_url, 5)
    insert = "INSERT INTO hw_statement (statement_no, text) VALUES (10, 'first')"
    outsider.change(Query("insert", "", insert), {})
    outsider.close()
    ledger.statements.put(20, "second, changed")
    assert [s.text for s in ledger.statements.list()] == ["first", "second, changed", "third"]
    assert ledger.statements.remove(10)
    assert not ledger.statements.remove(10)


def test_a_source_is_put_and_removed(ledger: Ledger) -> None:
    """All that is known of a source comes back, facts included."""
    facts = {"columns": [["a", "bigint"]], "feed": True, "note": "ä"}
    ledger.sources.put("orders", "/data/orders", "id-1", 7, facts)
    ledger.sources.put("people", "/data/people", None, None)
    found = ledger.sources.get("orders")
    assert found is not None
    assert (found.path, found.table_id, found.seen_version) == ("/data/orders", "id-1", 7)
    assert found.facts == facts
    assert [s.name for s in ledger.sources.list()] == ["orders", "people"]
    assert ledger.sources.remove("orders")
    assert not ledger.sources.remove("orders")


def test_the_last_seen_version_only_grows(ledger: Ledger, clock: FrozenClock) -> None:
    """A late report, or one about a recreated table, changes nothing; the rest is left alone."""
    ledger.sources.put("orders", "/data/orders", "id-1", 7, {"feed": True})
    before = clock.now()
    clock.advance(60)
    assert ledger.sources.saw("orders", "id-1", 9)
    assert not ledger.sources.saw("orders", "id-1", 8)
    assert not ledger.sources.saw("orders", "id-2", 10)
    assert not ledger.sources.saw("unknown", "id-1", 10)
    found = ledger.sources.get("orders")
    assert found is not None
    assert (found.seen_version, found.facts, found.updated_at) == (9, {"feed": True}, before)
