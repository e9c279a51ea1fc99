"""The SQL files: every query named, explained, used, and understood by both databases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headwater.store import Ledger, queries

FOLDER = Path(queries.__file__).parent
_NUMBERED = {"jobs", "commands", "events"}  # whose ids the database hands out
FAMILIES = sorted(path.stem for path in FOLDER.glob("*.sql"))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_query_is_explained_and_used(family: str) -> None:
    """No query without a sentence on what it does, none without a caller, none missing."""
    loaded = queries.load(family)
    source = (FOLDER.parent / f"{family}.py").read_text(encoding="utf-8")
    called = set(re.findall(r'"([a-z]+(?:_[a-z]+)+)"', source))
    for name, query in loaded.items():
        assert query.purpose.endswith("."), name
        assert not query.text.endswith(";"), name
    composed = {name for name in loaded if name.startswith("list_attempts_")}
    assert set(loaded) - composed <= called


@pytest.mark.parametrize("family", FAMILIES)
def test_both_databases_understand_every_query(ledger: Ledger, family: str) -> None:
    """Each statement runs, with nothing in any parameter but what its type demands."""
    numbers = {"limit", "batch", "line", "column", "statement_no", "fence", "seen_fence"}
    numbers |= {"sequence", "expected_sequence", "limit_seconds", "pid", "checked_version"}
    numbers |= {"seen_version", "seconds", "delay_seconds", "table_version"}
    numbers |= {"rows_inserted", "rows_deleted", "term", "beat", "slots", "running", "job"}
    numbers |= {"reschedule", "scanned", "missed", "before", "concurrency"}
    flags = {"manual": True, "wanted": True}
    for query in queries.load(family).values():
        names = set(re.findall(r"(?<!:):(\w+)", query.text))
        parameters = {name: 1 if name in numbers else flags.get(name, "x") for name in names}
        if family in _NUMBERED and "id" in names:
            parameters["id"] = 1
        ledger._database.rows(query, parameters)
