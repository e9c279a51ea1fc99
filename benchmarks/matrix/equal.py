"""Whether two results are the same bag of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Digest = tuple[int, str]


def digest(rows: DataFrame, columns: list[str]) -> Digest:
    """How many rows, and the sum of their hashes: equal for equal bags, and hardly for others."""
    listed = ", ".join(f"`{column}`" for column in columns)
    found = rows.selectExpr(f"CAST(xxhash64({listed}) AS DECIMAL(38,0)) AS h").selectExpr(
        "count(*)", "CAST(coalesce(sum(h), 0) AS STRING)"
    )
    count, total = found.collect()[0]
    return int(count), str(total)
