"""Which version of every base source a refresh goes to, the same one for its whole graph.

A STREAM source is pinned at its newest version. So is a BATCH source, a dictionary, wherever the
refresh is its cadence's, somebody's own wish or a full one. Any other refresh holds it at the
highest version that a view of the graph has read: those that stand lower move up to it, none goes
back, and two paths to a dictionary still meet at one version of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress

from headwater.capture.changes import ChangeKind, capture_changes
from headwater.capture.present import files_present
from headwater.capture.view_log import committed_state
from headwater.define.graph import base_sources
from headwater.define.source import Cadence
from headwater.vocabulary.errors import FrontierUnsettled, HistoryGone, WrongUse
from headwater.vocabulary.frontier import Frontier, SourceVersion
from headwater.workspace.workspace import Workspace

AsOf = int | Mapping[str, int] | None
Pins = Mapping[str, SourceVersion]


def asked_versions(workspace: Workspace, views: Iterable[str], as_of: AsOf) -> Mapping[str, int]:
    """The versions that the user named, by source; a bare number is that of the only source."""
    if as_of is None:
        return {}
    below = (base_sources(workspace.definitions, view) for view in views)
    sources = sorted(set().union(*below))
    if isinstance(as_of, int):
        if len(sources) != 1:
            raise WrongUse(f"several sources ({', '.join(sources)}): say AS OF for each by name")
        return {sources[0]: as_of}
    unknown = sorted(set(as_of) - set(sources))
    if unknown:
        raise WrongUse(f"AS OF names {', '.join(unknown)}, which the view does not read")
    return as_of


def pinned_sources(
    workspace: Workspace,
    views: Collection[str],
    asked: Mapping[str, int] | None = None,
    *,
    dictionaries: bool = True,
) -> dict[str, SourceVersion]:
    """One version per base source, fixed for the whole graph of these views."""
    named = asked or {}
    pins = {}
    for source in sorted(_below(workspace, views)):
        if dictionaries or source in named or not is_dictionary(workspace, source):
            pins[source] = current(workspace, source, named.get(source))
        else:
            pins[source] = _held(workspace, source, views)
    return pins


def is_dictionary(workspace: Workspace, source: str) -> bool:
    """Whether a source is followed on the dictionary cadence only."""
    known = workspace.definitions.sources.get(source)
    return known is not None and known.cadence is Cadence.BATCH


def current(workspace: Workspace, name: str, version: int | None = None) -> SourceVersion:
    """A table's identity and its newest version, or the one asked for."""
    log = workspace.log_of(name)
    latest = log.latest_version()
    if version is not None and version > latest:
        raise WrongUse(f"{name} has no version {version} yet; its newest is {latest}")
    return SourceVersion(log.metadata(latest).table_id, latest if version is None else version)


def _below(workspace: Workspace, views: Iterable[str]) -> set[str]:
    """The base sources of some views, each view looked at once."""
    waiting = list(views)
    seen = set(waiting)
    while waiting:
        fresh = set(workspace.inputs(waiting.pop())) - seen
        seen |= fresh
        waiting += [name for name in fresh if workspace.is_view(name)]
    return {name for name in seen if not workspace.is_view(name)}


# --- dictionaries -------------------------------------------------------------------------------


def _held(workspace: Workspace, source: str, views: Collection[str]) -> SourceVersion:
    """The highest version that the graph has read; the newest where none can be gone on from."""
    newest = current(workspace, source)
    read = [seen for seen in _read(workspace, source, views) if seen.table_id == newest.table_id]
    highest = max(read, default=newest)
    return highest if _is_readable(workspace, source, highest, newest) else newest


def _read(workspace: Workspace, source: str, views: Collection[str]) -> Iterator[SourceVersion]:
    """What the views have read of a source, and what those have that they read but leave alone."""
    for view in views:
        frontier = workspace.frontier_of(view)
        if source in frontier:
            yield frontier[source]
        for left in (n for n in workspace.inputs(view) if workspace.is_view(n) and n not in views):
            with suppress(FrontierUnsettled):  # told when the view's own turn comes
                below = base_frontier(workspace, workspace.frontier_of(left))
                yield from below.get(source, ())


def _is_readable(
    workspace: Workspace, source: str, held: SourceVersion, newest: SourceVersion
) -> bool:
    """Whether the table as of an older version is still there, log and files."""
    if held.version >= newest.version:
        return held == newest
    log = workspace.log_of(source)
    try:
        files = files_present(log, held.version, newest.version)
    except HistoryGone:
        return False
    return files.snapshot and log.can_rebuild(held.version)


# --- what one view reads ------------------------------------------------------------------------


def view_pins(workspace: Workspace, view: str, sources: Pins) -> dict[str, SourceVersion]:
    """What a view reads: base sources as pinned, other views as they were last refreshed."""
    pins = {}
    for name in workspace.inputs(view):
        if workspace.is_view(name):
            record = workspace.ready_view(name)
            table_id = workspace.log_of(name).metadata().table_id
            pins[name] = SourceVersion(table_id, record.table_version or 0)
        else:
            pins[name] = sources[name]
    _refuse_mix(workspace, view, pins)
    return pins


def base_frontier(workspace: Workspace, pins: Pins) -> dict[str, set[SourceVersion]]:
    """Base source -> the versions of it that a view would see through all its paths."""
    found: dict[str, set[SourceVersion]] = {}
    for name, version in pins.items():
        if not workspace.is_view(name):
            found.setdefault(name, set()).add(version)
            continue
        below = base_frontier(workspace, _frontier_at(workspace, name, version.version))
        for source, versions in below.items():
            found.setdefault(source, set()).update(versions)
    return found


def _frontier_at(workspace: Workspace, view: str, version: int) -> Frontier:
    """What a view had read when it stood at a version, which need not be its newest."""
    record = workspace.view(view)
    if record.table_version == version:
        return record.frontier
    state = committed_state(workspace.log_of(view), version)
    if state is None:
        raise FrontierUnsettled(f"what {view} had read at its version {version} is not known")
    return state.frontier


def _refuse_mix(workspace: Workspace, view: str, pins: Pins) -> None:
    for source, versions in base_frontier(workspace, pins).items():
        if len(versions) > 1 and _differ(workspace, source, versions):
            seen = ", ".join(str(v.version) for v in sorted(versions))
            raise FrontierUnsettled(
                f"{view} would mix versions {seen} of {source}",
                hint="refresh it with its ancestors (without --only)",
            )


def _differ(workspace: Workspace, source: str, versions: set[SourceVersion]) -> bool:
    """Whether data of the source changed between the versions."""
    first, last = min(versions), max(versions)
    if first.table_id != last.table_id:
        return True
    change = capture_changes(
        workspace.log_of(source),
        source=source,
        since=first,
        up_to=last.version,
        used_columns=None,
    )
    return change.kind is not ChangeKind.NONE
