"""R ⋉ K = (R ⋉ π_k K) ⋉ K: rows are looked up by one column first, and by all where that one fits.

To compare all columns of every row of a large table takes longer than to read them. Which column
tells rows best apart is only known once K is made. So the SQL has a mark where a join by one column
may stand; it is a comment as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass

from headwater.vocabulary.names import quoted

_MARK = re.compile(r"/\*sieve (\{.*?\})\*/")


@dataclass(frozen=True)
class Sieve:
    """Rows t are looked for that equal a row of a relation in all of these columns."""

    relation: str
    columns: tuple[str, ...]

    @property
    def mark(self) -> str:
        """It stands between the rows t and the join by all columns."""
        told = json.dumps(asdict(self)).replace("*", "\\u002a")  # no end of a comment, no beginning
        return f"/*sieve {told}*/"

    def join(self, column: str) -> str:
        """Those that do in one column, which is not NULL anywhere in the relation."""
        name = quoted(column)
        values = f"SELECT /*+ BROADCAST(r) */ {name} FROM {quoted(self.relation)} r"
        return f"LEFT SEMI JOIN ({values}) k ON t.{name} = k.{name}"


def sieved(sql: str, chosen: Callable[[Sieve], str | None]) -> str:
    """The SQL with a join in the place of every mark that a column was chosen for."""

    def join(found: re.Match[str]) -> str:
        value = json.loads(found[1])
        mark = Sieve(value["relation"], tuple(value["columns"]))
        column = chosen(mark)
        return found[0] if column is None else mark.join(column)

    return _MARK.sub(join, sql)
