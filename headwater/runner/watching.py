"""Notices commits on all sources in one cheap pass, without Spark and without reading any log.

Of each log only two names are looked up: the commit that would come next, and the last one known,
which tells a table that was dropped and made again. A store is asked for the second one less often,
because every question to it is a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headwater.capture.listing import commit_name, listing_of
from headwater.capture.storage import LogFiles, Signature, files_at
from headwater.vocabulary.clock import Clock

_PROBES = 16
"""Commits looked up one by one before the log is listed."""

_STORE_THREADS = 16
_STORE_PAUSE = timedelta(seconds=2)
_STORE_REQUESTS = 125
"""Tables in stores that are asked in a second; of more, each is asked less often."""

_MADE_AGAIN = timedelta(minutes=1)
"""How often a store is asked whether a table is still the one it was."""

_AGAIN = timedelta(minutes=1)
"""How often a source that cannot be checked is told again, so that its views are tried."""


@dataclass(frozen=True)
class Noticed:
    """A source has changed, or may have.

    `version` is None where there is no table (any more). `error` says why the check failed: then
    nobody knows, and what reads the source is to run anyway.
    """

    source: str
    version: int | None
    committed_at: datetime | None = None
    error: str = ""


@dataclass(frozen=True)
class _Seen:
    """The newest commit of a table, if there is a table, and why the last look at it failed."""

    version: int | None = None
    signature: Signature | None = None
    error: str = ""

    def differs(self, before: _Seen) -> bool:
        newest = (self.version, self.signature, bool(self.error))
        return newest != (before.version, before.signature, bool(before.error))


@dataclass
class _Watched:
    location: str
    files: LogFiles
    seen: _Seen = _Seen()
    told_at: datetime | None = None
    answer: Future[_Seen] | None = None
    asked_at: datetime | None = None
    compared_at: datetime | None = None


class SourceWatch:
    """Looks at its sources whenever asked and tells which have moved since the last time.

    A source is told at the first look, because nobody knows what happened before. Tables in stores
    are asked in the background and their answers told at a later look, so that a store that is
    slow or away holds nobody up.
    """

    def __init__(self, clock: Clock, open_files: Callable[[str], LogFiles] = files_at) -> None:
        self._clock = clock
        self._open_files = open_files
        self._sources: dict[str, _Watched] = {}
        self._stores: ThreadPoolExecutor | None = None
        self._store_pause = _STORE_PAUSE

    def follow(self, sources: Mapping[str, str]) -> None:
        """Watch these sources (name -> location) from now on, and no others."""
        known = self._sources
        self._sources = {
            name: known[name]
            if name in known and known[name].location == location
            else _Watched(location, self._open_files(location))
            for name, location in sources.items()
        }
        far = sum(not watched.files.is_local for watched in self._sources.values())
        self._store_pause = max(_STORE_PAUSE, timedelta(seconds=far / _STORE_REQUESTS))

    def look(self) -> tuple[Noticed, ...]:
        """What has moved since the last look, in the order of the sources."""
        now = self._clock.now()
        return tuple(
            Noticed(name, seen.version, _committed_at(seen), seen.error)
            for name, watched in self._sources.items()
            if (seen := self._asked(watched, now)) is not None and _is_news(watched, seen, now)
        )

    def close(self) -> None:
        """Ask no store any more; twice is harmless."""
        if self._stores is not None:
            self._stores.shutdown(wait=False, cancel_futures=True)
            self._stores = None

    def _asked(self, watched: _Watched, now: datetime) -> _Seen | None:
        """What a source looks like now; None while its store has not answered."""
        if watched.files.is_local:
            return _looked(watched.files, watched.seen, compare=True)
        answer, seen = watched.answer, None
        if answer is not None:
            if not answer.done():
                return None
            seen, watched.answer = answer.result(), None
        if _is_over(watched.asked_at, self._store_pause, now):
            self._ask(watched, seen or watched.seen, now)
        return seen

    def _ask(self, watched: _Watched, seen: _Seen, now: datetime) -> None:
        if self._stores is None:
            self._stores = ThreadPoolExecutor(_STORE_THREADS, "headwater-watch")
        compare = _is_over(watched.compared_at, _MADE_AGAIN, now)
        if compare:
            watched.compared_at = now
        watched.asked_at = now
        watched.answer = self._stores.submit(_looked, watched.files, seen, compare=compare)


def _is_over(since: datetime | None, pause: timedelta, now: datetime) -> bool:
    return since is None or now - since >= pause


def _is_news(watched: _Watched, seen: _Seen, now: datetime) -> bool:
    """Whether to tell it; the source then counts as told."""
    told, before = watched.told_at, watched.seen
    watched.seen = seen
    if told is None or seen.differs(before) or (seen.error and now - told >= _AGAIN):
        watched.told_at = now
        return True
    return False


def _committed_at(seen: _Seen) -> datetime | None:
    return None if seen.signature is None else seen.signature.modified


def _looked(files: LogFiles, seen: _Seen, *, compare: bool) -> _Seen:
    """The newest commit; whatever goes wrong concerns this source alone."""
    try:
        return _newest(files, seen, compare=compare)
    except Exception as error:  # noqa: BLE001  (a store's client may raise anything)
        return replace(seen, error=str(error) or type(error).__name__)


def _newest(files: LogFiles, seen: _Seen, *, compare: bool) -> _Seen:
    if seen.version is None:
        return _listed(files)
    if compare and files.signature(commit_name(seen.version)) != seen.signature:
        return _listed(files)
    found = seen if not seen.error else _Seen(seen.version, seen.signature)
    for version, signature in _following(files, seen.version):
        found = _Seen(version, signature)
    far = found.version is not None and found.version - seen.version >= _PROBES
    return _listed(files) if far else found


def _following(files: LogFiles, version: int) -> Iterator[tuple[int, Signature]]:
    """Commits have no holes: the newest is the one whose successor is not there."""
    for following in range(version + 1, version + 1 + _PROBES):
        signature = files.signature(commit_name(following))
        if signature is None:
            return
        yield following, signature


def _listed(files: LogFiles) -> _Seen:
    version = listing_of(files.names()).latest
    return _Seen() if version is None else _Seen(version, files.signature(commit_name(version)))
