"""Where two values that compare equal could still be told apart.

Spark's DISTINCT keeps one of 0.0 and -0.0, and one spelling under a collation that ignores case. A
sub-query is evaluated for that one; it must not look at what the others would have shown.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.define.lowering.expressions import function_name
from headwater.define.lowering.free import expressions_of
from headwater.define.lowering.refusal import NotLoweredError
from headwater.vocabulary.algebra import Node, walk

_SPELLING = frozenset(
    """
    ascii base64 concat concat_ws conv crc32 encode format_number format_string hash hex md5 printf
    sha sha1 sha2 string to_binary to_char to_csv to_json to_varchar xxhash64
    """.split()
)


def refuse_sensitive(node: Node, outer: frozenset[str]) -> None:
    """Refuse a sub-query in which an outer column is spelled out together with inner ones."""
    for below in walk(node):
        for expression in expressions_of(below):
            for found in expression.find_all(exp.Column):
                if found.name in outer and any(_spells(above) for above in _above(found)):
                    raise NotLoweredError("CORRELATED", "the outer row's value is spelled out")


def _above(node: exp.Expr) -> list[exp.Expr]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def _spells(node: exp.Expr) -> bool:
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return node.to.this in exp.DataType.TEXT_TYPES
    if isinstance(node, exp.DPipe):
        return True
    return isinstance(node, exp.Func) and function_name(node) in _SPELLING
