"""Which files of a view are marked, which are written anew."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.commit.losses import SMALL_ROWS, WORTH_ROWS, Losses, divided

LARGE = 2 * WORTH_ROWS


def file(name: str, rows: int | None, dead: int = 0) -> dict[str, Any]:
    stats = {} if rows is None else {"stats": json.dumps({"numRecords": rows})}
    vector = {"deletionVector": {"cardinality": dead}} if dead else {}
    return {"path": f"part=1/{name}", **stats, **vector}


def names(losses: Losses) -> tuple[str, str, str]:
    parts = (losses.marked, losses.anew, losses.emptied)
    marked, anew, emptied = ("".join(f["path"][-1] for f in part) for part in parts)
    return marked, anew, emptied


def test_a_large_file_is_marked() -> None:
    files = [file("a", LARGE), file("b", LARGE)]
    assert names(divided(files, {"a": 10}, vectors=True)) == ("a", "", "")


@pytest.mark.parametrize(
    ("rows", "vectors", "marked"),
    [(LARGE, None, "a"), (WORTH_ROWS // 2, None, ""), (LARGE, False, ""), (SMALL_ROWS, True, "a")],
)
def test_a_table_is_left_plain_until_it_pays(rows: int, vectors: bool | None, marked: str) -> None:
    found = names(divided([file("a", rows + 10)], {"a": 10}, vectors=vectors))
    assert found == (marked, "" if marked else "a", "")


def test_dead_rows_are_counted_over_all_commits() -> None:
    going = LARGE // 10
    assert names(divided([file("a", LARGE, going)], {"a": going}, vectors=True))[0] == "a"
    assert names(divided([file("a", LARGE, going)], {"a": going + 1}, vectors=True))[1] == "a"


def test_a_file_without_rows_is_only_taken_out() -> None:
    assert names(divided([file("a", 50, 10), file("b", 50)], {"a": 40}, vectors=None))[2] == "a"


def test_small_files_are_marked_until_there_are_several() -> None:
    few = [file(name, 100) for name in "abc"]
    assert names(divided(few, {"a": 5}, vectors=True)) == ("a", "", "")
    several = [file("z", LARGE), *(file(name, 100) for name in "abcdefgh")]
    assert names(divided(several, {"a": 5, "z": 5}, vectors=True)) == ("z", "abcdefgh", "")


def test_a_file_that_tells_nothing_is_written_anew() -> None:
    assert names(divided([file("a", None), file("b", LARGE)], {"a": 5}, vectors=True))[1] == "a"


def test_a_million_marks_are_too_many() -> None:
    files = [file("a", 100_000_000)]
    assert names(divided(files, {"a": 1_000_001}, vectors=True)) == ("", "a", "")


def test_a_file_from_nowhere_is_no_loss() -> None:
    with pytest.raises(ValueError, match="does not know"):
        divided([file("a", 5)], {"b": 1}, vectors=True)
