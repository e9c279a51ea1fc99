"""Expressions and aggregates that a random view may write over a column, by the column's type."""

from __future__ import annotations

from tests.laws.schema import FLOATING, NUMERIC, WHOLE

Call = tuple[str, str]
"""SQL text and the type it gives; `other` where nothing more is made of it."""


def expressions(sql: str, type_: str) -> list[Call]:
    """What can be computed from one column, row by row."""
    found = {
        "int": [
            (f"{sql} + 1", "int"),
            (f"coalesce({sql}, 0)", "int"),
            (f"CASE WHEN {sql} > 1 THEN 'hi' ELSE 'lo' END", "string"),
            (f"if({sql} IS NULL, 7, {sql} % 2)", "int"),
            (f"{sql} * 1.5", "decimal(14,1)"),
            (f"try_divide({sql}, {sql})", "double"),
            (f"nullif({sql}, 1)", "int"),
            (f"array({sql}, 1)", "array<int>"),
            (f"named_struct('a', {sql}, 'b', cast({sql} AS string))", "struct<a:int,b:string>"),
            (f"cast({sql} AS string)", "string"),
            (f"greatest({sql}, 1)", "int"),
        ],
        "smallint": [(f"{sql} + 1", "int"), (f"cast({sql} AS double) / 3", "double")],
        "bigint": [(f"{sql} % 3", "bigint"), (f"cast({sql} AS string)", "string")],
        "decimal(10,2)": [
            (f"{sql} * 2", "decimal(12,2)"),
            (f"round({sql}, 1)", "decimal(11,1)"),
            (f"{sql} / 3", "decimal(14,6)"),
            (f"cast({sql} AS double)", "double"),
        ],
        "decimal(38,10)": [(f"{sql} + 1", "decimal(38,10)"), (f"cast({sql} AS int)", "int")],
        "double": [(f"{sql} + 0.5", "double"), (f"isnan({sql})", "boolean"), (f"-{sql}", "double")],
        "float": [(f"{sql} * 2", "double"), (f"nanvl({sql}, CAST(0 AS FLOAT))", "float")],
        "string": [
            (f"upper({sql})", "string"),
            (f"length({sql})", "int"),
            (f"concat({sql}, '-', 'it''s')", "string"),
            (f"coalesce({sql}, 'none')", "string"),
            (f"substring({sql}, 1, 1)", "string"),
            (f"{sql} COLLATE UTF8_LCASE", "other"),
            (f"try_variant_get(try_parse_json(concat('[1,', {sql}, ']')), '$[0]', 'int')", "int"),
        ],
        "date": [
            (f"date_trunc('month', {sql})", "timestamp"),
            (f"year({sql})", "int"),
            (f"date_add({sql}, 1)", "date"),
            (f"datediff({sql}, DATE'2024-01-01')", "int"),
        ],
        "boolean": [(f"NOT {sql}", "boolean"), (f"cast({sql} AS int)", "int")],
        "timestamp": [(f"cast({sql} AS date)", "date"), (f"hour({sql})", "int")],
        "timestamp_ntz": [(f"cast({sql} AS date)", "date"), (f"minute({sql})", "int")],
        "binary": [(f"hex({sql})", "string"), (f"length({sql})", "int")],
        "array<int>": [
            (f"size({sql})", "int"),
            (f"transform({sql}, x -> x + 1)", "array<int>"),
            (f"filter({sql}, x -> x > 0)", "array<int>"),
            (f"aggregate({sql}, 0, (acc, x) -> acc + coalesce(x, 0))", "int"),
            (f"try_element_at({sql}, 1)", "int"),
            (f"exists({sql}, x -> x = 1)", "boolean"),
        ],
        "struct<a:int,b:string>": [(f"{sql}.a", "int"), (f"{sql}.b", "string")],
        "map<string,int>": [
            (f"{sql}['a']", "int"),
            (f"map_keys({sql})", "other"),
            (f"size({sql})", "int"),
        ],
    }
    return found.get(type_, [(sql, type_)])


def aggregates(sql: str, type_: str) -> list[Call]:
    """What can be computed from one column, group by group; the same whatever the rows' order."""
    found = [
        ("count(*)", "bigint"),
        (f"count({sql})", "bigint"),
        (f"count({sql}) FILTER (WHERE {sql} IS NOT NULL)", "bigint"),
        (f"count_if({sql} IS NULL)", "bigint"),
    ]
    if type_ not in {"map<string,int>", "other"}:
        found += [(f"count(DISTINCT {sql})", "bigint")] * 2
        found += [(f"size(collect_set({sql}))", "int")]
        found += [(f"sort_array(collect_list({sql}))", "other")]
        found += [(f"max_by({sql}, {sql})", type_)]
    if type_ not in {"boolean", "map<string,int>", "other"}:
        found += [(f"min({sql})", type_), (f"max({sql})", type_)]
    if type_ == "boolean":
        found += [(f"bool_and({sql})", "boolean"), (f"bool_or({sql})", "boolean")]
    if type_ == "string":
        found += [(f"listagg({sql}, ',') WITHIN GROUP (ORDER BY {sql})", "string")]
    if type_ in WHOLE:
        found += [(f"bit_xor({sql})", type_), (f"bit_or({sql})", type_)]
    if type_ in NUMERIC:
        found += _numeric(sql, type_)
    return found


def _numeric(sql: str, type_: str) -> list[Call]:
    if type_ in FLOATING:
        total = "double"
    elif type_ in WHOLE:
        total = "bigint"
    else:
        total = "decimal(20,2)" if type_ == "decimal(10,2)" else "decimal(38,10)"
    mean = "double" if type_ in (*FLOATING, *WHOLE) else "decimal(14,6)"
    return [
        *[(f"sum({sql})", total)] * 3,
        *[(f"avg({sql})", mean)] * 2,
        (f"sum({sql}) FILTER (WHERE {sql} > 0)", total),
        (f"try_sum({sql})", total),
        (f"stddev_pop({sql})", "double"),
        (f"var_samp({sql})", "double"),
        (f"median({sql})", "double"),
        (f"percentile({sql}, 0.25)", "double"),
        (f"regr_count({sql}, {sql})", "bigint"),
        (f"approx_count_distinct({sql})", "bigint"),
        (f"sum(DISTINCT {sql})", "other" if type_ in FLOATING else total),
    ]
