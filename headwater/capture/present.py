"""Whether the data files that a window of commits speaks of are still there.

A commit can be in the log while VACUUM has taken the files it names. Only files that the window
removed, or change files, can be gone without the table being broken.
"""

from __future__ import annotations

import uuid
from base64 import b85decode
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from headwater.capture.actions import Action, Commit
from headwater.capture.log import TableLog

_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_PYTHON85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_PYTHON85 = str.maketrans(_Z85, _PYTHON85)
_ENCODED_UUID = 20


@dataclass(frozen=True)
class FilesPresent:
    """Which ways to the changes of a window are still open."""

    feed: bool = True  # every file that the change feed reads is there
    snapshot: bool = True  # so is every file of the older version that the window removed
    missing: str = ""  # one that is not


def files_present(log: TableLog, after: int, up_to: int) -> FilesPresent:
    """Look for the files of the window (after, up_to].

    In a store, where each look is a request, this is done only if the window saw a VACUUM: a file
    that is gone all the same fails the read, it does not falsify it.
    """
    commits = log.commits(after, up_to)
    if not any(c.removes.count or c.cdc_files for c in commits):
        return FilesPresent()
    if not log.is_local and not any(c.operation.startswith("VACUUM") for c in commits):
        return FilesPresent()
    gone_feed = _first_missing(log, (p for c in commits for p in _feed_paths(log, c)))
    gone_old = _first_missing(log, _old_paths(log, commits))
    return FilesPresent(gone_feed is None, gone_old is None, gone_feed or gone_old or "")


def _first_missing(log: TableLog, paths: Iterator[str]) -> str | None:
    return next((path for path in dict.fromkeys(paths) if not log.holds(path)), None)


def _feed_paths(log: TableLog, commit: Commit) -> Iterator[str]:
    """Change files where a commit has them; else the data files it changed rows in."""
    if commit.cdc_files:
        kinds: tuple[str, ...] = ("cdc",)
    elif commit.adds.data_change or commit.removes.data_change:
        kinds = ("add", "remove")
    else:
        return
    for kind, action in log.actions(commit.version):
        if kind == "cdc" or (kind in kinds and action.get("dataChange", True)):
            yield from _paths(action)


def _old_paths(log: TableLog, commits: tuple[Commit, ...]) -> Iterator[str]:
    """Files the window removed that were there before it began."""
    born: set[str] = set()
    for commit in commits:
        for kind, action in log.actions(commit.version):
            if kind == "add":
                born.update(_paths(action))
            elif kind == "remove":
                yield from (path for path in _paths(action) if path not in born)


def _paths(action: Action) -> Iterator[str]:
    yield unquote(str(action["path"]))
    vector = action.get("deletionVector")
    if vector and (path := vector_path(vector)):
        yield path


def vector_path(vector: Action) -> str | None:
    """The file of a deletion vector; None if it lies in the log itself."""
    stored = str(vector.get("pathOrInlineDv") or "")
    if vector.get("storageType") == "p":
        return unquote(stored)
    if vector.get("storageType") != "u":
        return None
    prefix, code = stored[:-_ENCODED_UUID], stored[-_ENCODED_UUID:]
    name = f"deletion_vector_{uuid.UUID(bytes=b85decode(code.translate(_TO_PYTHON85)))}.bin"
    return f"{prefix}/{name}" if prefix else name
