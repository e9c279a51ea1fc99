"""Problems found in definitions, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property
from typing import Any
from unicodedata import east_asian_width

from headwater.vocabulary.location import Location

_PLAIN_WORD = re.compile(r"[\w$]+")


class Severity(StrEnum):
    """Whether a problem stops what was asked for."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a definition; the code is one of `codes.CODES`."""

    severity: Severity
    code: str
    message: str
    location: Location
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "severity": self.severity.value,
            "code": self.code,
            "message": self.message,
            "file": self.location.file,
            "line": self.location.line,
            "column": self.location.column,
            "hint": self.hint,
        }


def error(code: str, message: str, location: Location, hint: str = "") -> Problem:
    """A problem that makes the definitions invalid."""
    return Problem(Severity.ERROR, code, message, location, hint)


def warning(code: str, message: str, location: Location, hint: str = "") -> Problem:
    """A problem that the user should know of, and may leave."""
    return Problem(Severity.WARNING, code, message, location, hint)


@dataclass(frozen=True)
class Report:
    """The outcome of a check: errors by position, then warnings by position."""

    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> Report:
        return cls(tuple(sorted(set(problems), key=_rank)))

    @cached_property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)

    @cached_property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity is Severity.WARNING)

    @property
    def valid(self) -> bool:
        return not self.errors

    @property
    def summary(self) -> str:
        verdict = "VALID" if self.valid else "INVALID"
        return f"{verdict}: {_count(self.errors, 'error')}, {_count(self.warnings, 'warning')}"

    def text(self, texts: Mapping[str, str]) -> str:
        """The whole report for people; `texts` are the files' contents by name."""
        shown = [render(problem, texts.get(problem.location.file)) for problem in self.problems]
        return "\n\n".join([self.summary, *shown])

    def to_json(self) -> dict[str, Any]:
        return {
            "valid": self.valid,
            "errors": [problem.to_json() for problem in self.errors],
            "warnings": [problem.to_json() for problem in self.warnings],
        }


def render(problem: Problem, source_text: str | None) -> str:
    """A problem with its place, the line it is on, a caret below, and what to do."""
    lines = [f"{problem.location}: {problem.severity} {problem.code}: {problem.message}"]
    lines += _excerpt(problem.location, source_text)
    if problem.hint:
        lines.append(f"  next: {problem.hint}")
    return "\n".join(lines)


def suggest(name: str, candidates: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The candidate that was most likely meant, if any is near."""
    spelled = {candidate.lower(): candidate for candidate in candidates}
    near = get_close_matches(name.lower(), spelled, n=1, cutoff=cutoff)
    return spelled[near[0]] if near else None


def alternatives(names: Sequence[str]) -> str:
    """Names as a choice: `A, B or C`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _rank(problem: Problem) -> tuple[bool, Location, str, str]:
    is_warning = problem.severity is Severity.WARNING
    return is_warning, problem.location, problem.code, problem.message


def _count(problems: tuple[Problem, ...], noun: str) -> str:
    return f"{len(problems)} {noun}" if len(problems) == 1 else f"{len(problems)} {noun}s"


def _excerpt(location: Location, source_text: str | None) -> list[str]:
    lines = (source_text or "").split("\n")
    if location.line > len(lines) or source_text is None:
        return []
    line = lines[location.line - 1].rstrip("\r")
    before = line[: location.column - 1]
    word = _PLAIN_WORD.match(line, location.column - 1)
    carets = "^" * _width(word.group() if word else "^")
    margin = f"  {location.line} | "
    return [margin + line, " " * (len(margin) - 2) + "| " + _blank(before) + carets]


def _blank(text: str) -> str:
    """Blanks as wide as a text; tabs stay, so that the caret lands below its word."""
    return "".join("\t" if character == "\t" else " " * _width(character) for character in text)


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
