"""Where a quote or comment was opened that never closes.

The tokenizer only says that it failed. This looks for the place, and runs only then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLOSED = re.compile(
    r"""
      --[^\n]*                       # a comment to the end of its line
    | \b[rR]'[^']*' | \b[rR]"[^"]*"  # raw strings know no escape
    | '(?:[^'\\]|\\.)*'
    | "(?:[^"\\]|\\.)*"
    | `(?:[^`]|``)*`
    | (?:(?!\b[rR]['"])(?!\b[xX]')[^'"`/-])+  # anything that opens nothing
    | /(?!\*) | -(?!-)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")
_HEX = re.compile(r"\b[xX]'(?![0-9a-fA-F]*')")

_NAMES = {"'": "string", '"': "string", "`": "quoted name", "/": "comment"}


@dataclass(frozen=True)
class Unclosed:
    """What cannot be read, and where it starts."""

    start: int
    message: str


def find_unclosed(text: str) -> Unclosed:
    """The first thing in a text that the tokenizer cannot finish."""
    at = 0
    while at < len(text):
        bad_hex = _HEX.match(text, at)
        if bad_hex:
            return Unclosed(at, "X'...' holds something that is not hexadecimal")
        closed = _CLOSED.match(text, at)
        end = closed.end() if closed else _comment_end(text, at)
        if end is None:
            name = _NAMES.get(text[at], "string")
            return Unclosed(at, f"this {name} is never closed")
        at = end
    return Unclosed(0, "the text cannot be read as SQL")


def _comment_end(text: str, start: int) -> int | None:
    """The end of a comment, which may hold comments."""
    if not text.startswith("/*", start):
        return None
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark.group() == "/*" else -1
        if not depth:
            return mark.end()
    return None
