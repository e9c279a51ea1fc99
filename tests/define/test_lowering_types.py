"""Stars over structs and generators without names: columns by the types of the tables."""

from __future__ import annotations

import pytest

from headwater.define.lowering.lower import lower
from headwater.define.lowering.types import elements_of, fields_of, nested_type, schema_type
from headwater.vocabulary.algebra import Opaque, walk

_TYPES = {
    "k": "int",
    "st": "struct<a:int,b:struct<c:string,`d e`:date>>",
    "list": "array<struct<x:int,y:string>>",
    "tags": "map<string,struct<n:int>>",
}
_TWICE = {"k": "int", "st": "struct<a:int,A:int>"}


def names(sql: str, types: dict[str, str] | None = None) -> tuple[str, ...] | None:
    """The columns of a query; None where it is kept as text."""
    found = _TYPES if types is None else types
    lowered = lower(sql, {"t": tuple(_TYPES)}, typed={"t": found})
    kept = any(isinstance(node, Opaque) for node in walk(lowered.query.root))
    return None if kept else lowered.query.names


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT k, st.* FROM t", ("k", "a", "b")),
        ("SELECT ST.* EXCEPT (a) FROM t", ("b",)),
        ("SELECT t.st.* FROM t", ("a", "b")),
        ("SELECT st.b.* FROM t", ("c", "d e")),
        ("SELECT s.* FROM (SELECT st AS s FROM t) u", ("a", "b")),
        ("SELECT b.* FROM (SELECT st.* FROM t) u", ("c", "d e")),
        ("WITH u AS (SELECT st FROM t) SELECT st.* FROM u", ("a", "b")),
        ("SELECT k, item.* FROM t LATERAL VIEW explode(list) AS item", ("k", "x", "y")),
        ("SELECT k, inline(list) FROM t", ("k", "x", "y")),
        ("SELECT inline(array(st, st)) FROM t", ("a", "b")),
        ("SELECT i.y FROM t LATERAL VIEW inline(list) i", ("y",)),
        ("SELECT explode(tags) FROM t", ("key", "value")),
        ("SELECT value.* FROM t LATERAL VIEW explode(tags)", ("n",)),
        ("SELECT posexplode(list) FROM t", ("pos", "col")),
        ("SELECT p, v.x FROM t LATERAL VIEW posexplode(list) AS p, v", ("p", "x")),
        ("SELECT t.* EXCEPT (st, list, tags) FROM t", ("k",)),
        ("SELECT st.*, a + 1 AS z FROM t", ("a", "b", "z")),
        ("SELECT st.a, count(*) AS n FROM t GROUP BY a", ("a", "n")),
        ("SELECT st.*, count(*) AS n FROM t GROUP BY a, b HAVING a > 1", ("a", "b", "n")),
    ],
)
def test_columns_are_named_by_types(sql, expected):
    assert names(sql) == expected


@pytest.mark.parametrize("sql", ["SELECT st.* FROM t", "SELECT inline(list) FROM t"])
def test_without_types_the_query_is_kept_as_text(sql):
    assert names(sql, {}) is None


def test_fields_of_one_name_are_left_to_spark():
    assert names("SELECT st.* FROM t", _TWICE) is None


@pytest.mark.parametrize("excluded", ["st.a", "t.st.a"])
def test_a_part_of_a_column_is_not_left_out_by_us(excluded):
    assert names(f"SELECT * EXCEPT ({excluded}) FROM t") is None


def test_a_relation_goes_before_a_column_of_its_name():
    assert names("SELECT st.* FROM t AS st") == tuple(_TYPES)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("struct<x:int,select:string,not:void>", ("x", "select", "not")),
        ("STRUCT<d:decimal(10,2),i:interval day to second>", ("d", "i")),
        ("struct<`a,b:c`:int,`tick``ed`:map<string,array<int>>>", ("a,b:c", "tick`ed")),
        ("struct<s:string collate UNICODE_CI,n:struct<>>", ()),
    ],
)
def test_fields_of_a_struct_are_read_to_the_end(text, fields):
    assert tuple(name for name, _ in fields_of(nested_type(text))) == fields


@pytest.mark.parametrize(
    "text",
    [
        *("int", "", "struct<", "struct<a int", "struct<a:int", "struct<a:int>>", "struct<a:>"),
        *("struct<>", "array<>", "map<string>", "map<a,b,c>", "array<int,int>", "array<void"),
        "struct<a:decimal(1,2>",
    ],
)
def test_what_is_no_nested_type_tells_nothing(text):
    type_ = nested_type(text)
    assert not fields_of(type_)
    assert not elements_of(type_)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("a INT, b STRING", ["a", "b"]),
        ("STRUCT<a: INT, b: MAP<STRING, INT>>", ["a", "b"]),
        ("a decimal(10,2), b array < int >", ["a", "b"]),
        ("a:int,b:string", ["a", "b"]),
        ("int", []),
        ("a INT COMMENT 'x, y: z'", []),
        ("`a b` int", []),
        ("a INT,", []),
    ],
)
def test_a_schema_as_users_write_it(schema: str, expected: list[str]) -> None:
    """What cannot be read to its last sign tells nothing."""
    assert [name for name, _ in fields_of(schema_type(schema))] == expected
