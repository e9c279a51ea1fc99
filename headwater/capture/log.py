"""A Delta table's log, read without Spark.

Everything is taken from the newest place that tells the whole truth about a version: the checksum
beside its commit, else the commits before it, else a checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from headwater.capture.actions import Action, Commit, actions_of, commit_of
from headwater.capture.listing import (
    Checkpoint,
    Listing,
    checksum_name,
    commit_name,
    listing_of,
)
from headwater.capture.memory import SHARED, LogMemory
from headwater.capture.protocol import TableProtocol, parse_protocol, refuse_unsupported
from headwater.capture.schema import TableMetadata, parse_metadata
from headwater.capture.state import (
    Checksum,
    LiveFiles,
    TableStatistics,
    checkpoint_actions,
    parse_checksum,
)
from headwater.capture.storage import LogFiles, Signature, files_at
from headwater.capture.values import countable_values
from headwater.vocabulary.errors import HistoryGone, SourceUnreadable

_FAR = 200
"""Commits walked back before a checkpoint, whose reader is slow to import, is the cheaper way."""

_MANY_FILES = 20_000
"""Above this many files a row count is not worth reading them one by one."""

_PROBES = 16
"""Versions tried one by one before the folder is listed again."""

_CLUSTERING = "delta.clustering"

_NO_FILE = Signature(0, 0)
"""Of what is remembered without a file that it belongs to."""

State = Commit | Checksum | Checkpoint


@dataclass(frozen=True)
class Header:
    """What holds for a table at a version, apart from its files."""

    metadata: TableMetadata
    protocol: TableProtocol


Found = TypeVar("Found", Header, TableStatistics)


def open_log(path: str, storage_options: Mapping[str, str] | None = None) -> TableLog:
    """The log of the table at a path; nothing is read yet."""
    return TableLog(files_at(path, storage_options))


class TableLog:
    """Reads one table's log; cheap to make, and to ask again when nothing has changed."""

    def __init__(self, files: LogFiles, memory: LogMemory = SHARED) -> None:
        self._files = files
        self._memory = memory

    @property
    def location(self) -> str:
        return self._files.location

    @property
    def is_local(self) -> bool:
        return self._files.is_local

    # --- versions ---------------------------------------------------------------------------

    def exists(self) -> bool:
        """Whether there is a Delta table; a log that may not be read is an error, not a no."""
        return self._newest() is not None

    def latest_version(self) -> int:
        """The newest version, by a look at the next one's name where the last one is known."""
        version = self._newest()
        if version is None:
            raise SourceUnreadable(self._files.absence(), where=self.location)
        return version

    def earliest_commit(self) -> int:
        """The oldest version whose commit is still there."""
        version = self.listing().earliest
        if version is None:
            raise SourceUnreadable(self._files.absence(), where=self.location)
        return version

    def listing(self) -> Listing:
        return listing_of(self._files.names())

    def can_rebuild(self, version: int) -> bool:
        """Whether the log still has all that a snapshot at the version is made of."""
        return self.listing().can_rebuild(version)

    def missing(self, after: int, up_to: int) -> tuple[int, ...]:
        """The versions of (after, up_to] whose commits are gone."""
        versions = range(after + 1, up_to + 1)
        return tuple(v for v in versions if self._files.signature(commit_name(v)) is None)

    # --- commits ----------------------------------------------------------------------------

    def commit(self, version: int) -> Commit:
        found = self._commit(version)
        if found is None:
            raise HistoryGone(f"the commit of version {version} is gone", where=self.location)
        return found

    def commits(self, after: int, up_to: int) -> tuple[Commit, ...]:
        """The commits of (after, up_to], oldest first; raises if one is gone."""
        return tuple(self.commit(version) for version in range(after + 1, up_to + 1))

    def actions(self, version: int) -> Iterator[tuple[str, Action]]:
        """A commit's lines with the names of its files, which `commit` leaves out."""
        text = self._files.read(commit_name(version))
        if text is None:
            raise HistoryGone(f"the commit of version {version} is gone", where=self.location)
        return actions_of(text)

    def holds(self, path: str) -> bool:
        """Whether a data file, named as in the log but decoded, is still there."""
        return self._files.holds(path)

    # --- states -----------------------------------------------------------------------------

    def metadata(self, version: int | None = None) -> TableMetadata:
        """Identity, columns and properties at a version, the newest for None."""
        return self.header(self.latest_version() if version is None else version).metadata

    def header(self, version: int) -> Header:
        """Metadata and protocol; refused if the log of such a table cannot be trusted."""
        return self._remembered("header", version, lambda: self._known_header(version))

    def transaction_version(self, app: str, version: int | None = None) -> int | None:
        """The last transaction version of an application at a version, None if it has none."""
        for state in self._backwards(self.latest_version() if version is None else version):
            known = self._transactions(state)
            if known is not None and (app in known or not isinstance(state, Commit)):
                return known.get(app)
        return None

    def statistics(self, version: int | None = None) -> TableStatistics:
        """Rows, bytes and files at a version."""
        at = self.latest_version() if version is None else version
        return self._remembered("statistics", at, lambda: self._find_statistics(at))

    def clustering_columns(self, version: int) -> tuple[str, ...]:
        """The columns that the table is clustered by, as its files name them."""
        for state in self._backwards(version):
            domains = self._domains(state)
            for domain in domains or ():
                if domain.get("domain") == _CLUSTERING:
                    return _clustered_by(domain)
            if domains is not None and not isinstance(state, Commit):
                break
        return ()

    def files(self, version: int) -> tuple[Action, ...]:
        """The data files a version consists of, as they were added."""
        return self._find_files(version).adds

    # --- finding ----------------------------------------------------------------------------

    def _newest(self) -> int | None:
        key = (self.location, "latest")
        known = self._memory.last(key)
        if known and self._files.signature(commit_name(known[1])) == known[0]:
            version, signature = known[1], known[0]
        else:
            listed = self.listing().latest
            found = None if listed is None else self._files.signature(commit_name(listed))
            if listed is None or found is None:
                return None
            version, signature = listed, found
        return self._probe_on(key, version, signature)

    def _probe_on(self, key: tuple[str, str], version: int, signature: Signature) -> int:
        """Commits have no holes: the newest is the one whose successor is not there."""
        for _ in range(_PROBES):
            following = self._files.signature(commit_name(version + 1))
            if following is None:
                break
            version, signature = version + 1, following
        else:
            version = self.listing().latest or version
            signature = self._files.signature(commit_name(version)) or signature
        self._memory.put(key, signature, version)
        return version

    def _remembered(self, what: str, version: int, find: Callable[[], Found]) -> Found:
        signature = self._files.signature(commit_name(version))
        if signature is None:
            return find()
        key = (self.location, what, version)
        value: Found | None = self._memory.get(key, signature)
        if value is None:
            value = find()
            self._memory.put(key, signature, value)
        return value

    def _commit(self, version: int) -> Commit | None:
        name, key = commit_name(version), (self.location, "commit", version)
        signature = self._files.signature(name)
        if signature is None:
            return None
        found: Commit | None = self._memory.get(key, signature)
        text = None if found else self._files.read(name)
        if text is not None:
            found = self._parsed(version, text, signature)
            self._memory.put(key, signature, found)
        return found

    def _parsed(self, version: int, text: bytes, signature: Signature) -> Commit:
        try:
            return commit_of(version, text, signature.modified)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SourceUnreadable(
                f"the commit of version {version} is damaged: {error}", where=self.location
            ) from error

    def _checksum(self, version: int) -> Checksum | None:
        """The checksum of a version, if it belongs to the very commit that is there now."""
        text = self._files.read(checksum_name(version))
        found = parse_checksum(text) if text else None
        if found is None or found.transaction_id is None:
            return None
        line = self._files.first_line(commit_name(version))
        return found if found.transaction_id == _transaction_id(line) else None

    def _backwards(self, version: int) -> Iterator[State]:
        """Commits from a version down, each preceded by the whole state it left, where known."""
        listing: Listing | None = None
        for v in range(version, -1, -1):
            if checksum := self._checksum(v):
                yield checksum
            commit = self._commit(v)
            if commit is None or version - v >= _FAR:
                listing = listing or self.listing()
                checkpoint = listing.checkpoint_at_or_below(v)
                if checkpoint and checkpoint.version == v:
                    yield checkpoint
            if commit is None:
                raise HistoryGone(
                    f"what version {version} is made of is no longer in the log",
                    where=self.location,
                )
            yield commit

    def _known_header(self, version: int) -> Header:
        """The last one that was found, if it is equal: most versions have the one before them."""
        found, key = self._find_header(version), (self.location, "last header")
        known = self._memory.last(key)
        if known and _is_same(known[1], found):
            same: Header = known[1]
            return same
        self._memory.put(key, _NO_FILE, found)
        return found

    def _find_header(self, version: int) -> Header:
        metadata: TableMetadata | None = None
        protocol: TableProtocol | None = None
        for state in self._backwards(version):
            found = self._read_header(state)
            metadata, protocol = metadata or found[0], protocol or found[1]
            if metadata and protocol:
                refuse_unsupported(protocol, metadata, self.location)
                return Header(metadata, protocol)
        raise SourceUnreadable("the log tells no schema", where=self.location)

    def _read_header(self, state: State) -> tuple[TableMetadata | None, TableProtocol | None]:
        if not isinstance(state, Checkpoint):
            return state.metadata, state.protocol
        found = dict(checkpoint_actions(self._files, state, "metaData", "protocol"))
        return parse_metadata(found["metaData"]), parse_protocol(found["protocol"])

    def _transactions(self, state: State) -> Mapping[str, int] | None:
        if not isinstance(state, Checkpoint):
            return state.transactions
        found = checkpoint_actions(self._files, state, "txn")
        return {txn["appId"]: int(txn["version"]) for _, txn in found}

    def _find_statistics(self, version: int) -> TableStatistics:
        """By the checksum alone if it can; else by going through the files."""
        checksum = self._checksum(version)
        if checksum and (checksum.live is not None or checksum.files > _MANY_FILES):
            return replace(checksum.statistics, values=countable_values(checksum.live or ()))
        live = self._find_files(version)
        return replace(live.statistics, values=countable_values(live.adds))

    def _find_files(self, version: int) -> LiveFiles:
        later: list[int] = []
        live = LiveFiles()
        for state in self._backwards(version):
            if isinstance(state, Commit):
                later.append(state.version)
            elif (adds := self._live_files(state)) is not None:
                live = LiveFiles.of(adds)
                break
        for v in reversed(later):
            for kind, action in self.actions(v):
                live.apply(kind, action)
        return live

    def _domains(self, state: State) -> tuple[Action, ...] | None:
        if isinstance(state, Checksum):
            return state.domains
        if isinstance(state, Commit):
            return tuple(a for kind, a in self.actions(state.version) if kind == "domainMetadata")
        return tuple(a for _, a in checkpoint_actions(self._files, state, "domainMetadata"))

    def _live_files(self, state: Checksum | Checkpoint) -> Iterator[Action] | None:
        if isinstance(state, Checksum):
            return None if state.live is None else iter(state.live)
        return (add for _, add in checkpoint_actions(self._files, state, "add"))


def _is_same(one: Header, other: Header) -> bool:
    """To the last letter of the schema: parts of it are left out when headers are compared."""
    return one == other and one.metadata.schema_text == other.metadata.schema_text


def _clustered_by(domain: Action) -> tuple[str, ...]:
    if domain.get("removed"):
        return ()
    columns = json.loads(domain.get("configuration") or "{}").get("clusteringColumns") or ()
    return tuple(".".join(column) for column in columns)


def _transaction_id(line: bytes) -> str | None:
    """Spark's writer puts commitInfo first; where another kind comes first there is no tie."""
    try:
        told = json.loads(line)["commitInfo"]["txnId"]
    except (ValueError, KeyError, TypeError):
        return None
    return str(told)
