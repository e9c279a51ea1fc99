"""What really went wrong, out of the many pages Spark has to say about it."""

from __future__ import annotations

import re

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
