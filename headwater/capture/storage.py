# ruff: noqa: PTH100, PTH110, PTH116, PTH118, PTH123, PTH208
# Plain calls take half the time, and a refresh with nothing to do is made of little else.
"""The files of a Delta log, on this machine or in a store.

A log in a folder is read with plain file calls, because even importing a store's client costs more
than a refresh that has nothing to do.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from headwater.vocabulary.errors import SourceUnreachable, SourceUnreadable

LOG_FOLDER = "_delta_log"
_LASTING = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG})
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_FILE_SCHEME = re.compile(r"(?i)file:(//[^/]*)?(?=/)")


class Signature(NamedTuple):
    """Tells a file from another one that later takes its name."""

    size: int
    modified_ns: int
    file_number: int = 0

    @property
    def modified(self) -> datetime:
        return datetime.fromtimestamp(self.modified_ns / 1e9, UTC)


class LogFiles(Protocol):
    """What a reader of a log asks of the place where the table lies; names are within the log."""

    location: str
    is_local: bool

    def names(self) -> list[str]: ...

    def absence(self) -> str: ...

    def signature(self, name: str) -> Signature | None: ...

    def read(self, name: str) -> bytes | None: ...

    def first_line(self, name: str) -> bytes: ...

    def holds(self, path: str) -> bool: ...


class LocalFiles:
    """A table in a folder of this machine."""

    is_local = True

    def __init__(self, folder: str) -> None:
        self.location = os.path.abspath(folder)
        self._log = os.path.join(self.location, LOG_FOLDER)

    def names(self) -> list[str]:
        """Names in the log; none if there is no log."""
        try:
            return os.listdir(self._log)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._unreadable(error) from error

    def absence(self) -> str:
        """What to say when there is no log."""
        if not os.path.exists(self.location):
            return "there is no such folder"
        return f"the folder holds no Delta table: it has no {LOG_FOLDER} with commits"

    def signature(self, name: str) -> Signature | None:
        try:
            found = os.stat(f"{self._log}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        return Signature(found.st_size, found.st_mtime_ns, found.st_ino)

    def read(self, name: str) -> bytes | None:
        try:
            with open(f"{self._log}/{name}", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error

    def first_line(self, name: str) -> bytes:
        try:
            with open(f"{self._log}/{name}", "rb") as file:
                return file.readline()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._unreadable(error) from error

    def holds(self, path: str) -> bool:
        """Whether a data file is there; one in another kind of store is taken on trust."""
        if is_remote(path):
            return True
        return os.path.exists(os.path.join(self.location, local_path(path)))

    def _unreadable(self, error: OSError) -> SourceUnreadable:
        """Whoever may not read it has to repair that; whatever else a disk says may pass."""
        kind = SourceUnreadable if error.errno in _LASTING else SourceUnreachable
        what = f"the table's log may not be read: {error.strerror or error}"
        return kind(what, where=self.location)


class StoreFiles:
    """A table in an object store, through delta-rs."""

    is_local = False

    def __init__(self, uri: str, options: Mapping[str, str] | None = None) -> None:
        self.location = uri.rstrip("/")
        self._options = dict(options or {})
        self._handler: Any = None

    def names(self) -> list[str]:
        selector = import_module("pyarrow.fs").FileSelector  # slow to import
        within = selector(LOG_FOLDER, allow_not_found=True, recursive=False)
        return [info.base_name for info in self._ask("get_file_info_selector", within)]

    def absence(self) -> str:
        return "the address holds no Delta table"

    def signature(self, name: str) -> Signature | None:
        (info,) = self._ask("get_file_info", [f"{LOG_FOLDER}/{name}"])
        if not info.is_file:
            return None
        return Signature(int(info.size or 0), int(info.mtime_ns or 0))

    def read(self, name: str) -> bytes | None:
        try:
            return bytes(self._ask("open_input_file", f"{LOG_FOLDER}/{name}").read())
        except FileNotFoundError:
            return None

    def first_line(self, name: str) -> bytes:
        return (self.read(name) or b"").partition(b"\n")[0]

    def holds(self, path: str) -> bool:
        if _SCHEME.match(path):
            return True
        (info,) = self._ask("get_file_info", [path])
        return bool(info.is_file)

    def _ask(self, method: str, argument: object) -> Any:
        try:
            if self._handler is None:
                self._handler = _store_handler(self.location, self._options)
            return getattr(self._handler, method)(argument)
        except FileNotFoundError:
            raise
        except Exception as error:
            what = str(error).split("\n", maxsplit=1)[0]
            raise SourceUnreachable(
                f"the store cannot be read: {what}", where=self.location
            ) from error


def files_at(path: str, options: Mapping[str, str] | None = None) -> LogFiles:
    """The reader that fits a path; `file:` addresses are folders of this machine."""
    return StoreFiles(path, options) if is_remote(path) else LocalFiles(local_path(path))


def is_remote(path: str) -> bool:
    return bool(_SCHEME.match(path)) and not _FILE_SCHEME.match(path)


def local_path(address: str) -> str:
    """The path a `file:` address names; as in Spark, what looks like an escape is none."""
    return _FILE_SCHEME.sub("", address, count=1)


def _store_handler(uri: str, options: dict[str, str]) -> Any:
    return import_module("deltalake.fs").DeltaStorageHandler(uri, options)  # slow to import
