"""The ledger's SQL, one file per table family, each query with a name and what it is for.

One text serves both databases: parameters are written `:name`, and whatever the databases spell
differently stays out of these files (it lives in `headwater.store.dialects`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_HEADER = re.compile(r"^-- (\w+)\n((?:--.*\n)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    """One named statement."""

    name: str
    purpose: str
    text: str


def load(family: str) -> Mapping[str, Query]:
    """The queries of one family, by name."""
    content = (Path(__file__).parent / f"{family}.sql").read_text(encoding="utf-8")
    _, *pieces = _HEADER.split(content)
    found = {}
    for name, comment, text in zip(pieces[0::3], pieces[1::3], pieces[2::3], strict=True):
        purpose = " ".join(line.removeprefix("--").strip() for line in comment.splitlines())
        found[name] = Query(name, purpose, text.strip().removesuffix(";"))
    return MappingProxyType(found)
