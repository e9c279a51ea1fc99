"""What becomes of the files that lose rows: marked by a deletion vector, or written anew.

To mark a file costs next to nothing, but every later reader passes over its dead rows, and the rows
that take their place lie in a file of their own. So a large file is marked while few of its rows
are dead; small ones are marked until there are several, and then written anew as one. A table gets
deletion vectors only when they save it much: some readers of Delta tables do not know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headwater.capture.actions import Action, live_rows
from headwater.plan.cost import MARKED_ROWS, MOST_DEAD

SMALL_ROWS = MARKED_ROWS
WORTH_ROWS = 100_000
"""A table gets deletion vectors once they save writing so many rows anew."""

_MOST_SMALL = 8
_MOST_MARKED = 1_000_000
"""So many rows of one commit: their numbers pass through the driver."""


@dataclass(frozen=True)
class Losses:
    """The files of a table that a commit replaces."""

    marked: tuple[Action, ...] = ()
    anew: tuple[Action, ...] = ()
    emptied: tuple[Action, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.marked or self.anew or self.emptied)


def divided(files: Iterable[Action], gone: Mapping[str, int], *, vectors: bool | None) -> Losses:
    """How each file of a table loses its rows; `gone` has their number by the file's name.

    `vectors` tells whether the table has deletion vectors; None: not yet, but it may get them.
    """
    by_name = {file_name(file): file for file in files}
    if unknown := gone.keys() - by_name.keys():
        raise ValueError(f"files of the view that its log does not know: {sorted(unknown)}")
    emptied = {name for name, going in gone.items() if live_rows(by_name[name]) == going}
    touched = gone.keys() - emptied
    large = {name for name in touched if _stays_large(by_name[name], gone[name])}
    saved = sum(live_rows(by_name[name]) or 0 for name in large)
    many = sum(gone.values()) > _MOST_MARKED
    if many or vectors is False or (vectors is None and saved < WORTH_ROWS):
        marked, anew = set[str](), touched
    else:
        small = {name for name, file in by_name.items() if _is_small(file)} - emptied
        marked = large | (touched & small)
        anew = touched - marked
        if len(small) >= _MOST_SMALL:
            marked, anew = large, anew | small
    chosen = (tuple(by_name[name] for name in sorted(some)) for some in (marked, anew, emptied))
    return Losses(*chosen)


def file_name(file: Action) -> str:
    """The last part of a data file's path, which no other file of the table has."""
    return str(file["path"]).rpartition("/")[2]


def _stays_large(file: Action, going: int) -> bool:
    left = (live_rows(file) or 0) - going
    dead = int((file.get("deletionVector") or {}).get("cardinality") or 0) + going
    return left >= SMALL_ROWS and dead <= MOST_DEAD * (left + dead)


def _is_small(file: Action) -> bool:
    """A file that does not tell its rows is not known to be."""
    rows = live_rows(file)
    return rows is not None and rows < SMALL_ROWS
