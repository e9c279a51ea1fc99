"""What really went wrong, out of the many pages Spark has to say about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_LENGTH = 500
_CAUSED = re.compile(r"^Caused by: (.+)$", re.MULTILINE)
_CALLED = re.compile(r"^An error occurred while calling \S+\s*:?\s*")
_CLASS = re.compile(r"^(?:[\w$]+\.)+[\w$]+(?:Exception|Error): ")


def cause_of(error: BaseException) -> str:
    """The innermost cause in one line; a failed call of the JVM names it last."""
    text = str(error)
    found = _CAUSED.findall(text)
    line = found[-1] if found else _CALLED.sub("", text).strip().split("\n")[0]
    return (_CLASS.sub("", line) or type(error).__name__)[:_LENGTH]


def kinds_of(error: BaseException) -> tuple[str, ...]:
    """The classes of an error and of what caused it, in Python and in the JVM, with packages."""
    found = [f"{type(error).__module__}.{type(error).__name__}"]
    with suppress(Exception):  # a JVM that has died tells nothing
        found += _java_classes(getattr(error, "java_exception", None))
    return tuple(found)


def _java_classes(thrown: Any) -> Iterator[str]:
    while thrown is not None:
        yield str(thrown.getClass().getName())
        thrown = thrown.getCause()
