"""Every error a user can meet: a stable code, what happened, where, what to do next.

Numbers 1-9999 are temporary (a retry may succeed), 10000 and up are permanent (something must be
repaired first). The class docstring is what `docs/errors.md` prints for the code.
"""

from __future__ import annotations

import re

from headwater.vocabulary.location import Location

FIRST_PERMANENT = 10_000


class HeadwaterError(Exception):
    """Something went wrong; the code and the hint say what to do."""

    number = 0
    hint = ""

    def __init__(
        self, what: str, *, where: Location | str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = type(self).hint if hint is None else hint

    @property
    def code(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).upper()

    @property
    def is_temporary(self) -> bool:
        return self.number < FIRST_PERMANENT

    def __str__(self) -> str:
        place = f" (at {self.where})" if self.where and str(self.where) not in self.what else ""
        hint = f"\n  next: {self.hint}" if self.hint and self.hint not in self.what else ""
        return f"[{self.code}] {self.what}{place}{hint}"

    def to_json(self) -> dict[str, object]:
        return {
            "code": self.code,
            "number": self.number,
            "what": self.what,
            "where": str(self.where) if self.where else None,
            "next": self.hint,
            "temporary": self.is_temporary,
        }


# --- temporary: a retry may succeed -------------------------------------------------------------


class RefreshRunning(HeadwaterError):
    """Another refresh of this view holds the claim."""

    number = 100
    hint = "wait for it, or stop it with `headwater cancel ID`"


class RefreshFenced(HeadwaterError):
    """Another refresher committed this step first; nothing of ours was written."""

    number = 101
    hint = "refresh again: it continues from what the other one committed"


class RefreshCanceled(HeadwaterError):
    """The refresh was stopped on request before its commit."""

    number = 102
    hint = "content and frontier are as before; refresh again when you like"


class LedgerUnreachable(HeadwaterError):
    """The control database did not answer in time."""

    number = 110
    hint = "check the store URL in headwater.toml and that the server runs"


class CommitFailed(HeadwaterError):
    """The commit did not land; the view is as it was."""

    number = 120
    hint = "see the cause (disk full, permissions, storage away), repair it and refresh again"


class SparkFailed(HeadwaterError):
    """Spark could not run a step; the view is as it was."""

    number = 121
    hint = "see the cause; `headwater explain V --sql` prints the statements of each step"


class FrontierUnsettled(HeadwaterError):
    """Upstream views kept moving while a common frontier was sought."""

    number = 122
    hint = "refresh again"


# --- permanent: something must be repaired ------------------------------------------------------


class ProjectInvalid(HeadwaterError):
    """The definitions have errors."""

    number = 10_001
    hint = "run `headwater check` to see all of them"


class SqlSyntax(HeadwaterError):
    """A statement does not parse."""

    number = 10_002


class UnknownName(HeadwaterError):
    """A view, source, column or id that nothing defines."""

    number = 10_003


class DefinitionConflict(HeadwaterError):
    """The definition contradicts another one, or itself."""

    number = 10_004


class StatementUnsupported(HeadwaterError):
    """A statement that this version of Headwater does not carry out."""

    number = 10_005


class ConfigInvalid(HeadwaterError):
    """headwater.toml, an environment variable or a flag holds something unknown."""

    number = 10_010


class ProjectMissing(HeadwaterError):
    """The folder is no Headwater project."""

    number = 10_011
    hint = "make one with `headwater init DIR`"


class LedgerTooNew(HeadwaterError):
    """The ledger was written by a newer Headwater."""

    number = 10_020
    hint = "upgrade this installation of Headwater"


class SourceUnreadable(HeadwaterError):
    """A source's path is no Delta table, or may not be read."""

    number = 10_030
    hint = "check the path and its permissions"


class HistoryGone(HeadwaterError):
    """A source's needed history is no longer readable."""

    number = 10_031
    hint = "rebuild the view with `headwater refresh V --full`"


class ViewNotReady(HeadwaterError):
    """The view has not been built yet."""

    number = 10_040
    hint = "build it with `headwater apply`"


class ViewTampered(HeadwaterError):
    """Somebody else wrote to the view's table."""

    number = 10_041
    hint = "`headwater refresh V --full` makes it right again"


class TechniqueRefused(HeadwaterError):
    """The technique asked for is not sound for this view and this change."""

    number = 10_042
    hint = "`headwater explain V` lists the techniques open to it"


class StrictRefused(HeadwaterError):
    """The view's policy is STRICT and no incremental technique is sound, now or for any change."""

    number = 10_043
    hint = "change the policy, or rebuild once with `headwater refresh V --full`"


class AsOfBelowFrontier(HeadwaterError):
    """The version asked for is older than what the view already holds."""

    number = 10_044


class JavaMissing(HeadwaterError):
    """No Java 17 or newer could be found or installed."""

    number = 10_050
    hint = "install a JDK 17+, or `pip install 'headwater[java]'`"


class WrongUse(HeadwaterError):
    """The command or call was used wrongly."""

    number = 10_060


class LedgerUnreadable(HeadwaterError):
    """The ledger is no database of Headwater's, is damaged, or may not be opened or written."""

    number = 10_021
    hint = (
        "check the store URL and its permissions; a SQLite ledger may be deleted: "
        "contents and frontiers are found again from the views' own commits"
    )


class SourceUnsupported(HeadwaterError):
    """A source uses a Delta feature under which its log alone does not tell the truth."""

    number = 10_032
    hint = "drop the feature from the table, or define the source on a plain copy of it"


class ProjectExists(HeadwaterError):
    """A new project would overwrite what is already in the folder."""

    number = 10_012
    hint = "choose another folder"


class InternalError(HeadwaterError):
    """Something happened that Headwater did not foresee: a bug, or a broken installation."""

    number = 10_099


class DownloadFailed(HeadwaterError):
    """Delta Lake's jars could not be fetched."""

    number = 130
    hint = (
        "check the network, or name your own repository with `spark.jars.repositories` "
        "or jars you have with `spark.jars` in headwater.toml"
    )


class SessionUnsuited(HeadwaterError):
    """The Spark session handed in cannot read and write Delta tables."""

    number = 10_051


class CommitUnsettled(HeadwaterError):
    """Whether the commit landed could not be learned: the view's log did not answer."""

    number = 123
    hint = "refresh again: it looks first, and goes on from what landed"


class VerifyFailed(HeadwaterError):
    """A view could not be compared with its query; nothing is said about whether it is right."""

    number = 124
    hint = (
        "see the cause; where a source's old version is gone (VACUUM), refresh the view first: "
        "then it stands at versions that can be read"
    )


# --- the control plane --------------------------------------------------------------------------


class LeaseLost(HeadwaterError):
    """Another coordinator leads; nothing of this one's was written."""

    number = 111
    hint = "nothing: the one that leads goes on with the work"


class RunnerUnregistered(HeadwaterError):
    """The runner's row is gone from the ledger, so it owns no jobs."""

    number = 112
    hint = "nothing: it stops its jobs and registers again"


class StateConflict(HeadwaterError):
    """What was asked for does not fit the state it is in, or the state changed meanwhile."""

    number = 113
    hint = "look at the state with `headwater jobs` or `headwater runners`, then try again"


# --- work on a runner ---------------------------------------------------------------------------


class QueueFull(HeadwaterError):
    """The runner has as much work waiting as it may hold."""

    number = 140
    hint = "wait until some of it is done, or give the runner more workers"


class RunnerClosing(HeadwaterError):
    """The runner is closing and takes no new work."""

    number = 141
    hint = "nothing: another runner takes its jobs, or it does when it is back"


class TimeLimit(HeadwaterError):
    """The work took longer than it may; its Spark jobs were cancelled and nothing was committed."""

    number = 142
    hint = "see what it did with `headwater history V`; give it more time, or Spark more cores"


class SourceUnreachable(SourceUnreadable):
    """A source's disk or store did not answer; whether the table is there is not known."""

    number = 131
    hint = "nothing, if it passes; else check the network, the mount and the store's credentials"


class PortUnusable(HeadwaterError):
    """A port that was to be opened is taken, or may not be opened."""

    number = 10_070
    hint = "choose another port"
