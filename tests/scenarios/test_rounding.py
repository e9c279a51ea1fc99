"""Sums of floating-point numbers: the order of addition is nobody's promise."""

from __future__ import annotations

import pytest

from headwater.vocabulary.technique import Technique
from tests.scenarios.lake import Lake

TENTHS = [("abc"[n % 3], n, 0.1 * (n % 7) + 0.01 * n) for n in range(60)]


@pytest.fixture(scope="module")
def lake(shared_lake: Lake) -> Lake:
    shared_lake.source("t", "k STRING, n INT, v DOUBLE", TENTHS)
    shared_lake.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    shared_lake.view("running", "SELECT k, n, sum(v) OVER (PARTITION BY k ORDER BY n) AS s FROM t")
    shared_lake.view(
        "large", "SELECT k, s FROM (SELECT k, n % 2 AS p, sum(v) AS s FROM t GROUP BY ALL) "
        "WHERE s > 1"
    )  # fmt: skip
    shared_lake.view(
        "vectors", "SELECT k, vector_sum(array(CAST(v AS FLOAT), 1F)) AS s FROM t GROUP BY k"
    )
    shared_lake.view("having", "SELECT k, sum(v) AS s FROM t GROUP BY k HAVING sum(v) > 1")
    return shared_lake


def test_another_order_of_addition_is_no_difference(lake: Lake) -> None:
    """Sums in the last digits differ from a recompute's; verify sees past that, and no further."""
    lake.run("UPDATE {sums} SET s = s * (1 + 3e-16D)")
    assert lake.hw.verify("sums").equal
    lake.run("UPDATE {sums} SET s = s + 1e-6D WHERE k = 'a'")
    found = lake.hw.verify("sums")
    assert (found.equal, found.missing, found.extra, found.different) == (False, 0, 0, 1)
    lake.hw.refresh("sums", full=True)


def test_floats_in_arrays_are_no_other(lake: Lake) -> None:
    """Numbers of 32 bits have fewer digits, so more of them are the last ones."""
    lake.run("UPDATE {vectors} SET s = transform(s, x -> CAST(x * 1.0000005D AS FLOAT))")
    assert lake.hw.verify("vectors").equal
    lake.run("UPDATE {vectors} SET s = transform(s, x -> CAST(x * 1.001D AS FLOAT))")
    assert not lake.hw.verify("vectors").equal
    lake.hw.refresh("vectors", full=True)


def test_views_stay_right_when_files_are_laid_out_anew(lake: Lake) -> None:
    """Compaction between changes alters the order of addition, not the views."""
    lake.insert("t", ("a", 100, 0.7), ("b", 200, 0.1))
    lake.run("OPTIMIZE {t}", "UPDATE {t} SET v = v + 0.1D WHERE n % 9 = 0")
    lake.refresh()
    for view in ("sums", "running", "large", "vectors", "having"):
        assert lake.hw.verify(view).equal, view


def test_what_rounding_decides_is_recomputed(lake: Lake) -> None:
    """A filter on an inner sum of floats may fall either way, so no difference is made of it."""
    lake.insert("t", ("a", 300, 0.1))
    assert lake.hw.refresh("large").technique is Technique.REBUILD
    assert {v.reason.code for v in lake.hw.explain("large").verdicts if not v.sound} == {"ROUNDED"}
    assert any(v.sound for v in lake.hw.explain("having").verdicts if v.technique == "rekey")
