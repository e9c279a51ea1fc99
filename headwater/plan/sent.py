"""R ⋉ K, where the rows of R stay where they are and K is sent to them.

Spark does not know how large a relation is that was made and kept; only execution does, once it is
made. So the SQL of a join has a mark, which is a comment as it stands, and becomes Spark's hint if
the relation turns out to be one that can be sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_MARK = re.compile(r"/\*send (\w+) of ([^*]+)\*/")


def send(alias: str, relation: str) -> str:
    """The mark of a join with a relation, or one of no more rows; it stands behind SELECT."""
    return "" if "*" in relation else f"/*send {alias} of {relation}*/"


def hinted(sql: str, is_sent: Callable[[str], bool]) -> str:
    """The SQL with a hint in the place of every mark of a relation that is sent."""

    def hint(mark: re.Match[str]) -> str:
        alias, relation = mark.groups()
        return f"/*+ BROADCAST({alias}) */" if is_sent(relation) else mark[0]

    return _MARK.sub(hint, sql)
