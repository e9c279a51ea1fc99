"""How many values a column has at most, by its files' statistics."""

from __future__ import annotations

import json

import pytest

from headwater.capture.values import countable_values


def add(least: dict, most: dict) -> dict:
    return {"stats": json.dumps({"numRecords": 9, "minValues": least, "maxValues": most})}


def test_the_ends_of_all_files_count():
    files = [add({"id": 5, "n": -3}, {"id": 9, "n": 0}), add({"id": 1}, {"id": 6})]
    assert countable_values(files) == {"id": 9, "n": 4}


def test_days_are_counted_and_other_types_are_not():
    least = {
        "day": "2024-02-28",
        "name": "a",
        "x": 1.5,
        "at": "2024-01-01T00:00:00.000Z",
        "b": True,
    }
    most = {"day": "2024-03-01", "name": "b", "x": 2.5, "at": "2024-01-02T00:00:00.000Z", "b": True}
    assert countable_values([add(least, most)]) == {"day": 3}


@pytest.mark.parametrize("stats", [None, "", "{", "[]", '{"minValues": {"id": 1}}', "7"])
def test_files_without_statistics_tell_nothing(stats):
    assert countable_values([{"stats": stats}, {}]) == {}


def test_of_many_files_some_are_asked_the_first_and_last_among_them():
    files = [add({"id": n * 10}, {"id": n * 10 + 9}) for n in range(1000)]
    assert countable_values(files) == {"id": 10_000}
