"""Every reason code with one sentence, for the documentation.

A code is stable: programs may rely on it. The text beside it in a receipt or an explanation names
the view's own operator, column or version and may change.
"""

from __future__ import annotations

REASON_GROUPS: dict[str, dict[str, str]] = {
    "Nothing to do": {
        "NO_CHANGE": "No source has a new version.",
        "NO_ROW_CHANGED": (
            "Sources changed, but no row of the view did, for instance because only columns "
            "changed that the view does not use. The frontier moves, nothing is written."
        ),
        "NO_DATA_CHANGE": (
            "Sources have new versions, but none of them changed rows: OPTIMIZE, VACUUM, "
            "properties and the like. The frontier moves, nothing is written."
        ),
    },
    "A technique that is open": {
        "INSERTS_ONLY": "append: the sources' logs prove that rows were only inserted.",
        "LINEAR": "delta: the query has only linear operators and inner joins.",
        "ADDITIVE_STATE": "merge: every aggregate can be kept by adding to its state.",
        "EXTREMA_STORED": (
            "merge: every aggregate can be kept by adding to its state; where a group's stored "
            "least or greatest value goes, the group is recomputed."
        ),
        "TOUCHED_GROUPS": "rekey: the groups that a changed row belongs to are recomputed.",
        "FIRST_ROWS": (
            "rekey: the change is put among the first rows that are stored; the query is asked "
            "only if rows from below them must move up."
        ),
        "ALL_ROWS": (
            "rekey: windows over all rows are computed anew from the rows that are stored and "
            "their change; what differs is written."
        ),
        "FIRST_OF_EACH": (
            "rekey: the change is put among the first rows of partitions that are stored; the "
            "query is asked only for partitions where a first row goes or rows share a place."
        ),
        "TOUCHED_KEYS": "rekey: an operator is recomputed for the keys that changed.",
        "ALWAYS_SOUND": "rebuild: recomputing the query is always right.",
        "FORCED": "The technique was asked for, by --technique, technique= or --full.",
        "SUBTREE_RECOMPUTED": (
            "Incremental, but a part of the query is evaluated whole, before and after, and its "
            "difference is followed. The text names the part's own reason."
        ),
    },
    "A technique that is not open": {
        "GROUPED": "append, delta: the view is grouped, so a new row may change an existing one.",
        "NOT_GROUPED": (
            "merge: the view is no grouped aggregate. Of a part of a query: it names a column that "
            "is neither grouped nor aggregated."
        ),
        "NOT_APPEND_ONLY": "append: a source has updates or deletes.",
        "NOT_MONOTONE": "append: an operator may take a row away when another one comes.",
        "NOT_LINEAR": "delta: an operator must be recomputed by key; see rekey.",
        "NO_KEYED_OPERATOR": "rekey: nothing needs keys; delta does the same for less.",
        "HAVING": "merge: groups that a HAVING hides have no state to add to; see rekey.",
        "NOT_MERGEABLE": (
            "merge: an aggregate has no state that can be added to, such as count(DISTINCT ...), "
            "FILTER or percentile; see rekey."
        ),
        "ORDER_DEPENDENT": (
            "merge: a sum or average depends on the order of addition (floating point, or values "
            "too wide to add exactly); see rekey."
        ),
        "SORTED_INPUT": (
            "An aggregate such as collect_list() takes rows in the order of a sub-query, which "
            "only Spark's way of going through all of them keeps."
        ),
        "UNTYPED": "merge: Spark did not tell an aggregate's type; see rekey.",
        "ROUNDED": "A sum of floats, whose last digits depend on the order of addition, decides.",
        "FIRST_TO_COME": (
            "A value that depends on the order in which rows come, such as first(), a list, a "
            "sketch or max_by() where rows tie, decides which rows there are, or is added up."
        ),
        "UNKNOWN": "The technique asked for is never offered: skip and replace cannot be forced.",
        "NONE": "No technique was ruled out.",
    },
    "The whole view is recomputed": {
        "FIRST_BUILD": "The view has no content of this definition yet.",
        "STAMP_GONE": (
            "The commit that says what the view holds has left its table's log: nothing was "
            "written for longer than the log is kept, and the log was cleaned up meanwhile."
        ),
        "DEFINITION_CHANGED": "The view was defined anew since its last commit.",
        "SETTINGS_CHANGED": (
            "A session setting that results depend on, such as the time zone or ANSI mode, has "
            "another value than at the last commit."
        ),
        "UPKEEP_CHANGED": "Another version of Headwater stored the view, in another form.",
        "FUNCTION_CHANGED": "A function of your own has another body than at the last commit.",
        "CLOCK_MOVED": (
            "The clock tells something else than at the last refresh, and every row of the view is "
            "computed with it. A condition in WHERE or ON would be followed."
        ),
        "CLOCK_UNKNOWN": "What the clock told the view at its last commit is not on record.",
        "POLICY_FULL": "The view's policy is FULL.",
        "INCREMENTAL_FAILED": (
            "An incremental refresh broke down, so the view was rebuilt in the same attempt. The "
            "text names the technique and the cause."
        ),
        "OPAQUE": "The query is kept as text.",
        "TOP_K": (
            "LIMIT without ORDER BY, OFFSET without LIMIT, or either below another operator: which "
            "rows are first is a matter of all rows."
        ),
        "WINDOW_UNPARTITIONED": (
            "A window without a PARTITION BY that all its functions share, below another operator "
            "or over rows that cannot be stored beside it."
        ),
        "GLOBAL_AGGREGATE": (
            "An aggregate without GROUP BY: one group of all rows. merge may still be open."
        ),
        "PARSED_DIFFERENTLY": "Spark reads the query otherwise than our parser does.",
        "TYPED_DIFFERENTLY": "Our operators give other column types than the query.",
        "NAMED_DIFFERENTLY": "Our operators give columns of other names than the query.",
        "UNCOMPARABLE_TYPE": (
            "Rows cannot be compared: the view groups by a map, or shows one among its first rows, "
            "it uses a column of type variant, interval, geometry or geography, a NULL without a "
            "type is part of a key, or a union widens the decimals in an array or a struct."
        ),
        "CHAR_PADDED": (
            "Columns of type CHAR are compared by a set operation, an IN over a query or a "
            "sub-query, for which Spark does not fill them up with blanks."
        ),
        "TABLES_UNCLEAR": "Which tables the query reads was not understood.",
    },
    "What happened to a source": {
        "SOURCE_RECREATED": "The table was dropped and made anew: it is not the one the view read.",
        "SOURCE_REWOUND": "The source has fewer versions than the view has read.",
        "SOURCE_OVERWRITTEN": "The whole table was overwritten or replaced.",
        "SOURCE_TRUNCATED": "The table was truncated.",
        "SOURCE_RESTORED": "The table was restored to an older version.",
        "SOURCE_CLONED": "The table was replaced by a clone of another one.",
        "SCHEMA_CHANGED": "A column that the view reads was dropped, renamed, retyped or added.",
        "COLUMN_MAPPING_CHANGED": "The table's column mapping mode changed.",
        "COLUMN_ADDED": "A column that the view does not read was added.",
        "HISTORY_GONE": "The log entries of the versions to be read are cleaned up.",
        "FILES_VACUUMED": "VACUUM has taken a data or change file of the versions to be read.",
        "SNAPSHOT_GONE": "The version that the view has read can no longer be put together.",
        "FEED_OFF": (
            "The change feed was off for a version to be read. Snapshots are compared instead, if "
            "they are still there."
        ),
        "FEED_SCHEMA_CHANGED": "Delta cannot read the change feed across a change of the schema.",
    },
    "A part of the query that is kept as text": {
        "AMBIGUOUS_HAVING": "A name in HAVING or QUALIFY is both a column and an alias.",
        "CLAUSE": "A clause that no incremental law covers, such as SORT BY or a hint.",
        "CLOCK_DEPENDENT": (
            "A part of the query asks the clock in a way that a refresh cannot bind, such as "
            "TIMESTAMP 'now'."
        ),
        "CONSTANT_KEY": "A constant in GROUP BY.",
        "CORRELATED": (
            "A sub-query names the outer row where no law covers it: below a FULL JOIN or a PIVOT, "
            "or in a function that spells out its value."
        ),
        "DISTINCT_ON": "DISTINCT ON.",
        "GENERATOR": "A generator such as explode inside an expression or beside a window.",
        "GENERATOR_COLUMNS": "A generator without names for its columns.",
        "GROUPING_SETS": "A form of GROUPING SETS, ROLLUP or CUBE that no law covers.",
        "JOIN_KIND": "A kind of join that no law covers.",
        "LATERAL": "A lateral join with USING or of an unusual kind, or LEFT with a generator.",
        "LIMIT": "A LIMIT that is not a constant.",
        "NAMES_UNCLEAR": (
            "A name may be one that Spark gives to a column without a name, or a struct's fields "
            "are called after columns, as in arrays_zip."
        ),
        "NAMED_WINDOW": "A window built on another one, or inside one.",
        "NONDETERMINISTIC": "A function whose result is not decided by its input.",
        "ORDER_BY_HIDDEN": "DISTINCT ordered by what it does not show, below a LIMIT.",
        "PARAMETER": "A parameter.",
        "PIVOT": "A form of PIVOT or UNPIVOT that no law covers.",
        "QUERY": "A kind of query that is no SELECT and no set operation.",
        "RECURSIVE": "A recursive CTE.",
        "SESSION_WINDOW": (
            "session_window() with a gap that is no constant or as long as a day, in no plain "
            "GROUP BY, or two kinds of it."
        ),
        "TIME_WINDOW": (
            "window() of no fixed length, of more than 100 windows for a row, or two in a SELECT."
        ),
        "SET_CLAUSE": "BY NAME on a set operation.",
        "SET_WIDTH": "The sides of a set operation have other column counts.",
        "STAR": (
            "A star with REPLACE or RENAME, over no relation in scope, inside IN or after DISTINCT."
        ),
        "SUBQUERY": (
            "A sub-query where no law covers it, such as one in the ON of an outer join that asks "
            "both sides."
        ),
        "TABLE_CLAUSE": "A clause on a table, such as TABLESAMPLE.",
        "TABLE_EXPRESSION": "Something in FROM that is no table, sub-query or VALUES.",
        "TABLE_FUNCTION": "A table function.",
        "UNKNOWN_FUNCTION": (
            "A function that is neither built into Spark nor a deterministic Python function "
            "registered in the session."
        ),
        "VALUES": "Constant rows; they never change.",
        "WINDOW_IN_HAVING": "A window function in HAVING.",
    },
}
"""Reason codes by what they tell, in the order of `docs/errors.md`."""

REASONS: dict[str, str] = {
    code: sentence for group in REASON_GROUPS.values() for code, sentence in group.items()
}
"""Reason code -> what it means."""
