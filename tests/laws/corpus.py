"""The width of SQL as a list: one query per construct, in the words that people use.

Each is run against Spark by `test_corpus.py`; adding one is two lines in `corpus_sql/`.
"""

from __future__ import annotations

from pathlib import Path

R = (
    "k int, g int, c0 decimal(10,2), c1 double, c2 string, d date, ts timestamp, "
    "arr array<int>, st struct<a:int,b:string>, m map<string,int>"
)
S = "k int, g int, c0 string, n bigint, f boolean"
T = "k int, v int, w string"


def _read(family: Path) -> dict[str, str]:
    found = {}
    for part in family.read_text().split("-- ")[1:]:
        name, _, sql = part.partition("\n")
        found[f"{family.stem}: {name.strip()}"] = sql.strip().removesuffix(";")
    return found


CORPUS = {
    name: sql
    for family in sorted((Path(__file__).parent / "corpus_sql").glob("*.sql"))
    for name, sql in _read(family).items()
}
"""`family: construct` -> a query over r, s and t."""
