"""What lowering says when it does not understand a part of a query."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


class NotLoweredError(Exception):
    """This part of the query must be kept as text; the code is a stable reason code."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass(frozen=True)
class NameProblem:
    """A name that nothing in scope defines; line and column count from 1 within the query text."""

    code: str
    message: str
    line: int
    column: int
    name: str
    candidates: tuple[str, ...]


class NameProblemError(NotLoweredError):
    """Raised for a name problem, so that whoever can go on does."""

    def __init__(self, problem: NameProblem) -> None:
        super().__init__(problem.code, problem.message)
        self.problem = problem


def position(node: exp.Expr) -> tuple[int, int]:
    """Line and column of the name a node is about: the last part of a dotted one."""
    for found in node.walk():
        if "line" in found.meta:
            width = found.meta["end"] - found.meta["start"]
            return found.meta["line"], max(found.meta["col"] - width, 1)
    return 1, 1
