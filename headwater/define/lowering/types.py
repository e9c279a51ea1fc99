"""What is known of the types of columns: the fields of structs, the elements of arrays and maps.

Only of columns that come from a table as they are, and of parts of them. `st.*` and `inline(list)`
name columns by them. What was read wrongly is found when Spark's own columns are compared.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError

Types = Mapping[str, exp.DataType]
"""Column id -> its type, where it is known and made of others."""

_NESTED = ("struct<", "array<", "map<")
_KINDS = exp.DataType.Type


def nested_type(text: str) -> exp.DataType | None:
    """A type as Spark writes it, if it is made of others."""
    if not text.lower().startswith(_NESTED):
        return None
    try:
        return exp.DataType.build(text, dialect="spark")
    except SqlglotError:
        return None


def type_of(expression: exp.Expr, types: Types) -> exp.DataType | None:
    """Of a column, of a field within it, or of an array of such."""
    if isinstance(expression, exp.Paren):
        return type_of(expression.this, types)
    if isinstance(expression, exp.Column):
        return types.get(expression.name)
    if isinstance(expression, exp.Dot):
        fields = fields_of(type_of(expression.this, types))
        named = expression.expression.name.lower()
        return next((type_ for name, type_ in fields if name.lower() == named), None)
    if _is_array(expression):
        element = type_of(expression.expressions[0], types)
        return element and exp.DataType(this=_KINDS.ARRAY, expressions=[element], nested=True)
    return None


def _is_array(expression: exp.Expr) -> bool:
    """`array(a, b)`; all its elements have one type."""
    call = isinstance(expression, exp.Anonymous) and expression.name.lower() == "array"
    return (call or isinstance(expression, exp.Array)) and bool(expression.expressions)


def fields_of(type_: exp.DataType | None) -> list[tuple[str, exp.DataType]]:
    """The fields of a struct; none of another type, nor where two have one name."""
    if type_ is None or type_.this is not _KINDS.STRUCT:
        return []
    fields = [(part.name, part.args.get("kind")) for part in type_.expressions]
    distinct = {name.lower() for name, _ in fields}
    known = [(name, kind) for name, kind in fields if isinstance(kind, exp.DataType)]
    return known if len(known) == len(distinct) == len(type_.expressions) else []


def elements_of(type_: exp.DataType | None) -> list[tuple[str, exp.DataType]]:
    """What `explode` makes of an array or a map, under Spark's names."""
    if type_ is None or type_.this not in {_KINDS.ARRAY, _KINDS.MAP}:
        return []
    parts = [part for part in type_.expressions if isinstance(part, exp.DataType)]
    names = ("col",) if type_.this is _KINDS.ARRAY else ("key", "value")
    return list(zip(names, parts, strict=True)) if len(parts) == len(names) else []
