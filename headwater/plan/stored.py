"""How a reader's columns are called in a view's table.

Delta refuses some characters in column names, and an unnamed `count(*)` is called `count(1)` by
Spark. Such a column is stored under a plain name; reading a view by name shows it under its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headwater.plan.exact import Delicate
from headwater.vocabulary.names import quoted

_REFUSED = set(" ,;{}()\n\t=")


@dataclass(frozen=True)
class StoredTable:
    """Where a source or view lies.

    `names` are the columns stored under another name, `fragile` those to be compared with care.
    """

    path: str
    names: Mapping[str, str] = field(default_factory=dict)
    fragile: Delicate = field(default_factory=dict)

    def column(self, name: str) -> str:
        """SQL that reads a column under the name a query knows it by."""
        stored = self.names.get(name, name)
        return quoted(name) if stored == name else f"{quoted(stored)} AS {quoted(name)}"

    def columns(self, names: Iterable[str]) -> str:
        return ", ".join(self.column(name) for name in names)


def stored_names(visible: tuple[str, ...]) -> tuple[str, ...]:
    """A plain, unique name for every column, the same for the same list."""
    taken = {name.lower() for name in visible if not set(name) & _REFUSED}
    found = []
    for name in visible:
        plain = name
        if set(name) & _REFUSED:
            plain = _unique("".join("_" if c in _REFUSED else c for c in name), taken)
            taken.add(plain.lower())
        found.append(plain)
    return tuple(found)


def _unique(name: str, taken: set[str]) -> str:
    if name.lower() not in taken:
        return name
    number = 2
    while f"{name}_{number}".lower() in taken:
        number += 1
    return f"{name}_{number}"
