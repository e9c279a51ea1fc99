"""A project folder: every definition in the `.sql` files below it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.define.definitions import Definition, Definitions
from headwater.define.diagnostics import Problem, Report, error, suggest
from headwater.define.parse import Parsed, parse
from headwater.define.statements import Action, Create, PlainSql
from headwater.define.structure import check_structure
from headwater.vocabulary.errors import ProjectMissing
from headwater.vocabulary.location import Location

__all__ = ["Definitions", "Project", "definitions_of", "load_project", "misplaced"]

_DELTA_LOG = "_delta_log"
_VERBS = ("CREATE SOURCE", "CREATE MATERIALIZED VIEW", "CREATE HANDLER", "CREATE CONSUMER")


@dataclass(frozen=True)
class Project:
    """What a folder defines; `written` keeps file order and namesakes, `texts` the files."""

    definitions: Definitions
    problems: tuple[Problem, ...]
    texts: dict[str, str]
    written: tuple[Definition, ...]

    @property
    def report(self) -> Report:
        return Report.of(self.problems)


def load_project(folder: Path, *, warehouse: str = "warehouse") -> Project:
    """Parse all files and, if that went well, check how the definitions fit together.

    Hidden folders, the warehouse and Delta tables are no place for definitions.
    """
    if not folder.is_dir():
        raise ProjectMissing(f"there is no folder {folder}")
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    written: list[Definition] = []
    for path in _sql_files(folder, folder / warehouse):
        name = path.relative_to(folder).as_posix()
        try:
            texts[name] = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as wrong:
            problems.append(_unreadable(name, wrong))
            continue
        parsed = parse(texts[name], name)
        problems += [*parsed.problems, *misplaced(parsed)]
        written += definitions_of(parsed)
    if Report.of(problems).valid:
        problems += check_structure(written)
    return Project(Definitions.of(written), Report.of(problems).problems, texts, tuple(written))


def _sql_files(folder: Path, warehouse: Path) -> list[Path]:
    found: list[Path] = []
    for place, below, files in os.walk(folder):
        here = Path(place)
        below[:] = [name for name in below if _may_define(here / name, warehouse)]
        found += [here / name for name in files if _is_sql(name)]
    return sorted(found)


def _may_define(folder: Path, warehouse: Path) -> bool:
    hidden = folder.name.startswith(".")
    return not hidden and folder != warehouse and not (folder / _DELTA_LOG).is_dir()


def _is_sql(name: str) -> bool:
    return name.lower().endswith(".sql") and not name.startswith(".")


def definitions_of(parsed: Parsed) -> list[Definition]:
    """What a text defines, in its order."""
    return [made.definition for made in parsed.statements if isinstance(made, Create)]


def misplaced(parsed: Parsed, place: str = "a project file") -> Iterator[Problem]:
    """Statements that do something, where only definitions may stand."""
    for statement in parsed.statements:
        if isinstance(statement, Action | PlainSql):
            yield _define_only(statement, place)


def _define_only(statement: Action | PlainSql, place: str) -> Problem:
    if not isinstance(statement, PlainSql):
        verb = type(statement).__name__.upper()
        message = f"{verb} does something; {place} only defines"
        return error("MISPLACED_STATEMENT", message, statement.location, "use it in hw.sql(...)")
    opening = " ".join(statement.text.split()[:3])
    near = suggest(opening, _VERBS)
    hint = f"did you mean {near}?" if near else f"it may hold {', '.join(_VERBS)}"
    message = f"`{opening}` is not a definition"
    return error("MISPLACED_STATEMENT", message, statement.location, hint)


def _unreadable(name: str, wrong: OSError | UnicodeDecodeError) -> Problem:
    reason = "it is not UTF-8 text" if isinstance(wrong, UnicodeDecodeError) else wrong.strerror
    return error("UNREADABLE_FILE", f"{name} cannot be read: {reason}", Location(name, 1, 1))
