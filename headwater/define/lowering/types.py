"""What is known of the types of columns: the fields of structs, the elements of arrays and maps.

Only of columns that come from a table as they are, of what `from_json` makes, and of parts of
these. `st.*` and `inline(list)` name columns by them. A type that cannot be read to its last sign
tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp


@dataclass(frozen=True)
class Nested:
    """A type made of others: `struct`, `array` or `map`; plain ones have no parts."""

    kind: str = ""
    parts: tuple[tuple[str, Nested], ...] = ()


Types = Mapping[str, Nested]
"""Column id -> its type, where it is known and made of others."""

_NAME = re.compile(r"([^:<>,`]+):")
_WRITTEN_NAME = re.compile(r"(\w+)[: ]")
_NAMES = {"array": ("col",), "map": ("key", "value")}
"""What `explode` calls the parts."""


def nested_type(text: str) -> Nested | None:
    """A type as Spark writes it, if it is made of others."""
    return _read(_Reader(text))


def schema_type(text: str) -> Nested | None:
    """A type as a user writes it, or the columns of a struct: `a INT, b ARRAY<STRING>`."""
    for written_type in () if set(text) & set("'\"") else (text, f"struct<{text}>"):
        tight = re.sub(r"\s*([<>,:])\s*", r"\1", written_type.strip())
        found = _read(_Reader(tight, name=_WRITTEN_NAME))
        if found is not None:
            return found
    return None


def _read(reader: _Reader) -> Nested | None:
    try:
        found = reader.type()
    except (ValueError, IndexError):
        return None
    return found if found.kind and reader.is_done else None


class _Reader:
    """Reads `struct<a:int,b:array<string>>` from left to right; ValueError where it is not that."""

    def __init__(self, text: str, name: re.Pattern[str] = _NAME) -> None:
        self._text = text
        self._at = 0
        self._plain_name = name

    @property
    def is_done(self) -> bool:
        return self._at == len(self._text)

    def type(self) -> Nested:
        for kind in ("struct", *_NAMES):
            if self._text[self._at :].lower().startswith(f"{kind}<"):
                self._at += len(kind) + 1
                return Nested(kind, self._parts(kind))
        depth, start = 0, self._at
        while not self.is_done and (depth or self._text[self._at] not in ",>"):
            depth += {"(": 1, ")": -1}.get(self._text[self._at], 0)
            self._at += 1
        plain = self._text[start : self._at].strip()
        if not plain or "<" in plain or ":" in plain or depth:
            raise ValueError(self._text)
        return Nested()

    def _parts(self, kind: str) -> tuple[tuple[str, Nested], ...]:
        names = _NAMES.get(kind)
        found = [self._part(names[0] if names else None)]
        while self._take() == ",":
            position = min(len(found), len(names or ()) - 1)
            found.append(self._part(names[position] if names else None))
        if self._text[self._at - 1] != ">" or (names and len(found) != len(names)):
            raise ValueError(self._text)
        return tuple(found)

    def _part(self, name: str | None) -> tuple[str, Nested]:
        return (self._name() if name is None else name), self.type()

    def _name(self) -> str:
        if self._text[self._at] == "`":
            return self._quoted()
        found = self._plain_name.match(self._text, self._at)
        if found is None or not found[1].strip():
            raise ValueError(self._text)
        self._at = found.end()
        return found[1]

    def _quoted(self) -> str:
        name = ""
        while True:
            end = self._text.index("`", self._at + 1)
            name += self._text[self._at + 1 : end]
            self._at = end + 1
            if self._text[self._at] != "`":
                break
            name += "`"
        if self._take() != ":":
            raise ValueError(self._text)
        return name

    def _take(self) -> str:
        self._at += 1
        return self._text[self._at - 1]


def type_of(expression: exp.Expr, types: Types) -> Nested | None:
    """Of a column, of a field within it, or of an array of such."""
    if isinstance(expression, exp.Paren):
        return type_of(expression.this, types)
    if isinstance(expression, exp.Column):
        return types.get(expression.name)
    if isinstance(expression, exp.Dot):
        fields = fields_of(type_of(expression.this, types))
        named = expression.expression.name.lower()
        return next((type_ for name, type_ in fields if name.lower() == named), None)
    if isinstance(expression, exp.Anonymous) and expression.name.lower() == "from_json":
        schema = expression.expressions[1]
        return schema_type(schema.name) if isinstance(schema, exp.Literal) else None
    if _is_array(expression):
        element = type_of(expression.expressions[0], types)
        return None if element is None else Nested("array", (("col", element),))
    return None


def _is_array(expression: Any) -> bool:
    """`array(a, b)`; all its elements have one type."""
    call = isinstance(expression, exp.Anonymous) and expression.name.lower() == "array"
    return (call or isinstance(expression, exp.Array)) and bool(expression.expressions)


def fields_of(type_: Nested | None) -> tuple[tuple[str, Nested], ...]:
    """The fields of a struct; none of another type, nor where two have one name."""
    if type_ is None or type_.kind != "struct":
        return ()
    distinct = {name.lower() for name, _ in type_.parts}
    return type_.parts if len(distinct) == len(type_.parts) else ()


def elements_of(type_: Nested | None) -> tuple[tuple[str, Nested], ...]:
    """What `explode` makes of an array or a map, under Spark's names."""
    return type_.parts if type_ is not None and type_.kind in _NAMES else ()
