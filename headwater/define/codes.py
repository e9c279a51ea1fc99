"""Every problem that checking definitions can report, one sentence each, for the documentation."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # phase 1: parse
    "UNREADABLE_FILE": "A definition file cannot be read, or is not UTF-8 text.",
    "UNCLOSED_TEXT": "A string, quoted name or comment is opened and never closed.",
    "SQL_SYNTAX": "A statement or its query does not follow the grammar.",
    "DUPLICATE_CLAUSE": "A clause stands twice in one statement.",
    "DUPLICATE_ENTRY": "A list names the same thing twice.",
    "INVALID_INTERVAL": "An interval is not a positive length of time in known units.",
    "INVALID_CRON": "A cron expression is malformed, or can never come true.",
    "INVALID_TIME_ZONE": "A time zone has a name that nobody knows.",
    "INVALID_NAME": "A name is empty, too long, or holds characters that are not allowed.",
    "MISPLACED_STATEMENT": "A project file holds a statement that defines nothing.",
    # phase 2: structure
    "RESERVED_NAME": "A name starts with a prefix that only Headwater may use.",
    "DUPLICATE_NAME": "Two definitions have the same name.",
    "CLAUSE_CONFLICT": "Two clauses of one statement contradict each other.",
    "MISSING_KEY": "A source that is reloaded and compared needs a key.",
    "UNKNOWN_TABLE": "A query reads a table that is neither a source nor a view.",
    "QUALIFIED_TABLE": "A query reads a table by catalog or schema instead of a source's name.",
    "PINNED_TABLE": "A query reads a table at a fixed version instead of following it.",
    "QUERY_UNSUPPORTED": "A query hides what it reads: a parameter, script or table function.",
    "UNKNOWN_VIEW": "A handler or consumer names a view that does not exist.",
    "CYCLE": "Views read each other in a circle.",
    "VIEW_IN_TWO_HANDLERS": "A view belongs to two handlers.",
    "NONDETERMINISTIC": (
        "A query's result is not decided by its sources alone (a warning; an error beside COMPUTE "
        "ONCE, if a filter or another column hangs on it)."
    ),
    "ONCE_SHAPE": "A column is to be computed once, but the query does not work row by row.",
    "STATEMENT_UNSUPPORTED": "A statement that this version of Headwater does not carry out.",
    "UNUSED_SOURCE": "No view reads the source (a warning).",
    "CLOCK_DEPENDENT": "The query asks the clock, but time alone refreshes nothing (a warning).",
    "UNORDERED_LIMIT": "LIMIT without ORDER BY keeps any rows, so results may differ (a warning).",
    "ORDER_DEPENDENT": "An aggregate takes rows in any order, so results may differ (a warning).",
    "WINDOW_TIES": "A window function chooses between rows that sort equal (a warning).",
    # phases 3 and 4: names and types against the sources, analysis by Spark
    "UNKNOWN_COLUMN": "A query names a column that no table in scope has.",
    "AMBIGUOUS_COLUMN": "A query names a column that several tables in scope have.",
    "COLUMN_COUNT": "An alias lists more or fewer columns than the relation has.",
    "DUPLICATE_COLUMN": "A view would show two columns of one name.",
    "SPARK_REFUSED": "Spark does not accept the query.",
    "SOURCE_UNREADABLE": "A source is no Delta table, or may not be read.",
    "FEED_OFF": "The source has no change feed, so its snapshots are compared (a warning).",
    "NOT_CLUSTERED": "A large source is joined by a column it is not clustered by (a warning).",
    "NO_STATISTICS": "A source's files carry no statistics, so none can be skipped (a warning).",
    "REBUILD_ONLY": "A part of the query can only be followed by rebuilding (a warning).",
}
