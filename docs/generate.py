"""Write the pages of docs/ that are made from the code: `python -m docs.generate`."""
# ruff: noqa: INP001  (a program beside the pages it writes)

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from docs.coverage import coverage_page
from headwater.define.codes import CODES
from headwater.vocabulary import errors
from headwater.vocabulary.errors import HeadwaterError
from headwater.vocabulary.reasons import REASON_GROUPS

HERE = Path(__file__).parent

ADVICE: Mapping[str, str] = {
    "SQL_SYNTAX": "correct the statement at the place that the message shows",
    "UNKNOWN_NAME": "correct the name; the message suggests near ones or lists those there are",
    "DEFINITION_CONFLICT": "change one of the two definitions; the message names both",
    "STATEMENT_UNSUPPORTED": "leave the statement out; the SQL reference tells what is carried out",
    "CONFIG_INVALID": "correct the setting that the message names; it suggests near ones",
    "AS_OF_BELOW_FRONTIER": "ask for a later version; a view never goes back",
    "WRONG_USE": "see `headwater VERB --help`, or the method's docstring",
    "INTERNAL_ERROR": "set HEADWATER_DEBUG=1 to see where it happened, and report it",
    "SESSION_UNSUITED": "build the session with Delta's extension, catalog and jars",
}
"""What to do about errors whose hint depends on the case, so that the class has none."""

_HEAD = """\
# Errors, problems and reasons

This page is written by `make docs` from the code. Do not edit it.

Codes are stable: programs may rely on them. Messages may change.

- [Errors](#errors) end a command or are raised by the library.
- [Problems in definitions](#problems-in-definitions) are what `check` reports, with their place.
- [Reasons](#reasons) tell why a view was refreshed the way it was. They are in receipts, in
  `explain` and in `history`.
"""

_ERRORS = """\
## Errors

Every error has a number, a code, one sentence on what happened, often a place, and a next step. In
Python they are subclasses of `headwater.vocabulary.errors.HeadwaterError` with `code`, `number`,
`what`, `where`, `hint` and `is_temporary`. On the command line an error ends with status 1, and
`WRONG_USE` with status 2.

Numbers 1 to 9999 are temporary: trying again may succeed. From 10000 on something must be repaired
first. [Operations](operations.md#what-to-do-when-something-fails) says more about each kind.
"""

_MESSAGES = """\
Two more words appear inside the message of a `SPARK_FAILED` or the reason `INCREMENTAL_FAILED`:

| word | meaning |
|---|---|
| `HEADWATER_DRIFT` | The view's table lacks rows that its sources once gave it. |
| `HEADWATER_INEXACT` | A group's values are too many for an average, or too large for a sum. |

Both are followed by a rebuild in the same attempt, unless the policy is STRICT or a technique was
forced.
"""

_PROBLEMS = """\
## Problems in definitions

`headwater check` collects all problems of a phase: parsing, structure, names against the sources,
analysis by Spark. A later phase runs only if the earlier one found no error. Warnings do not make a
project invalid. A source that cannot be read is reported under the code of its [error](#errors).
"""

_REASONS = """\
## Reasons

A reason is a code and a sentence about the case at hand.
"""


def errors_page() -> str:
    """The whole page."""
    blocks = [
        _HEAD,
        _ERRORS,
        "### Temporary\n",
        _errors(e for e in error_classes() if e("").is_temporary),
        "### Permanent\n",
        _errors(e for e in error_classes() if not e("").is_temporary),
        _MESSAGES,
        _PROBLEMS,
        _table("code | meaning", ((f"`{code}`", text) for code, text in CODES.items())),
        _REASONS,
    ]
    for title, group in REASON_GROUPS.items():
        rows = ((f"`{code}`", text) for code, text in group.items())
        blocks += [f"### {title}\n", _table("code | meaning", rows)]
    return "\n".join(blocks)


def error_classes() -> list[type[HeadwaterError]]:
    """Every error a user can meet, by number."""
    found = (value for value in vars(errors).values() if isinstance(value, type))
    ours = [c for c in found if issubclass(c, HeadwaterError) and c is not HeadwaterError]
    return sorted(ours, key=lambda each: each.number)


def code_of(error: type[HeadwaterError]) -> str:
    return error("").code


def advice_on(error: type[HeadwaterError]) -> str:
    """The class's own hint, or what stands in for it."""
    return error.hint or ADVICE[code_of(error)]


def _errors(classes: Iterable[type[HeadwaterError]]) -> str:
    return _table(
        "number | code | meaning | what to do",
        (
            (str(e.number), f"`{code_of(e)}`", " ".join((e.__doc__ or "").split()), advice_on(e))
            for e in classes
        ),
    )


def _table(headers: str, rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join([*_lines(headers, rows), ""])


def _lines(headers: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {headers} |"
    yield f"|{'---|' * len(headers.split(' | '))}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


PAGES: Mapping[str, Callable[[], str]] = {"errors.md": errors_page, "coverage.md": coverage_page}
"""What is written, and by what."""


if __name__ == "__main__":
    for page, text in PAGES.items():
        (HERE / page).write_text(text(), "utf-8")
        print(f"wrote {HERE / page}")
