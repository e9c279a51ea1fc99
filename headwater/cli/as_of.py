"""`--as-of 7` and `--as-of orders=7`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headwater.define.kind import canonical
from headwater.vocabulary.errors import WrongUse

_HINT = "say --as-of 7, or --as-of orders=7 for each source"


def read_as_of(words: Iterable[str]) -> int | Mapping[str, int] | None:
    """One version for the only source, or one for each named source."""
    given = [word for each in words for word in each.split(",")]
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return _version(given[0], given[0])
    named: dict[str, int] = {}
    for word in given:
        source, equals, version = word.partition("=")
        if not equals or not source.strip():
            raise WrongUse(f"--as-of {word!r} names no source", hint=_HINT)
        if canonical(source.strip()) in named:
            raise WrongUse(f"--as-of names {source.strip()} twice", hint=_HINT)
        named[canonical(source.strip())] = _version(version, word)
    return named


def _version(text: str, word: str) -> int:
    if not text.strip().isdecimal():
        raise WrongUse(f"--as-of {word!r} has no version number", hint=_HINT)
    return int(text)
