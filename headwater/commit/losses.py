"""What becomes of the files that lose rows: marked by a deletion vector, or written anew.

To mark a file costs next to nothing, but every later reader passes over its dead rows, and the rows
that take their place lie in a small file of their own. So a file is marked while it is large and
few of its rows are dead; small files are written anew, together, once there are several. A table
gets deletion vectors only when they save it much: some readers of Delta tables do not know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headwater.capture.actions import Action, live_rows

SMALL_ROWS = 20_000
"""So many rows are read and written in less time than it takes to open a few files more."""

MOST_DEAD = 0.2
_MOST_SMALL = 8
WORTH_ROWS = 100_000
"""A table gets deletion vectors once they save writing so many rows anew."""

_MOST_MARKED = 1_000_000
"""So many rows of one commit: their numbers pass through the driver."""


@dataclass(frozen=True)
class Losses:
    """The files of a table that a commit replaces."""

    marked: tuple[Action, ...] = ()
    anew: tuple[Action, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.marked or self.anew)


def divided(files: Iterable[Action], gone: Mapping[str, int], *, vectors: bool | None) -> Losses:
    """How each file of a table loses its rows; `gone` has their number by the file's name."""
    by_name = {file_name(file): file for file in files}
    if unknown := gone.keys() - by_name.keys():
        raise ValueError(f"files of the view that its log does not know: {sorted(unknown)}")
    touched = {name: by_name[name] for name in gone}
    if vectors is False:
        return Losses((), tuple(touched.values()))
    marked = {name: file for name, file in touched.items() if _may_be_marked(file, gone[name])}
    if sum(gone[name] for name in marked) > _MOST_MARKED:
        marked = {}
    if vectors is None and sum(live_rows(file) or 0 for file in marked.values()) < WORTH_ROWS:
        return Losses((), tuple(touched.values()))
    small = [file for name, file in by_name.items() if name not in gone and _is_small(file)]
    anew = [file for name, file in touched.items() if name not in marked]
    if len(anew) + len(small) > _MOST_SMALL:
        anew += small
    return Losses(tuple(marked.values()), tuple(anew))


def file_name(file: Action) -> str:
    """The last part of a data file's path, which no other file of the table has."""
    return str(file["path"]).rpartition("/")[2]


def _may_be_marked(file: Action, going: int) -> bool:
    left = (live_rows(file) or 0) - going
    dead = int((file.get("deletionVector") or {}).get("cardinality") or 0) + going
    return left >= SMALL_ROWS and dead <= MOST_DEAD * (left + dead)


def _is_small(file: Action) -> bool:
    """A file that does not tell its rows is left alone."""
    rows = live_rows(file)
    return rows is not None and rows < SMALL_ROWS
