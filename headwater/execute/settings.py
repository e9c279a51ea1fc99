"""The session settings that a query's result depends on.

A view records their fingerprint with every commit; when it differs, the view is rebuilt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME_ZONE = "spark.sql.session.timeZone"

RESULT_SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.session.collation.default": "UTF8_BINARY",
    TIME_ZONE: "UTC",
    "spark.sql.storeAssignmentPolicy": "ANSI",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}
"""Setting -> its value in a session that Headwater builds and nobody configured."""


RIGHT_SETTINGS: Mapping[str, str] = {"spark.sql.optimizer.replaceExceptWithFilter": "false"}
"""Without them Spark gives wrong rows: it makes a filter of EXCEPT and looks up its columns by name
on the other side, where another table of a join may have a column of that name."""


_WATCHED = re.compile(
    r"spark\.sql\.(legacy\.|parser\.|ansi\.|icu\.|variable\.|lateralColumnAlias\.|jsonGenerator\."
    r"|readSideCharPadding|charAsVarchar|preserveCharVarcharTypeInfo|optimizer\.excludedRules"
    r"|parquet\.(binaryAsString|int96AsTimestamp|\w*RebaseModeInRead|inferTimestampNTZ))"
)
"""Of the many settings that only matter where somebody sets them."""

_READ_OTHERWISE: Mapping[str, str] = {
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.lateralColumnAlias.enableImplicitResolution": "true",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
    "spark.sql.legacy.groupingIdWithAppendedUserGroupBy": "false",
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": "false",
    "spark.sql.legacy.scalarSubqueryCountBugBehavior": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
}
"""Setting -> the value under which our parser and Spark's read a query alike."""


def read_otherwise(lookup: Callable[[str, str], str | None]) -> str | None:
    """The first setting because of which Spark may read a query as our parser does not."""
    return next(
        (
            name
            for name, expected in _READ_OTHERWISE.items()
            if (lookup(name, expected) or expected).lower() != expected.lower()
        ),
        None,
    )


def session_fingerprint(spark: SparkSession) -> str:
    """Of a session: all of its settings are asked for at once."""
    conf = spark._jsparkSession.sessionState().conf()  # noqa: SLF001
    given = str(conf.settings().toString())
    known = dict(_PAIR.findall(given))
    return _hashed(known)


_PAIR = re.compile(r"(?:^\{|, )(spark\.sql\.[\w.]+)=(.*?)(?=, [\w.-]+=|\}$)", re.DOTALL)


def configured_fingerprint(spark: Mapping[str, str]) -> str:
    """The fingerprint of a session built from configuration, without building it."""
    return _hashed(spark)


def _hashed(given: Mapping[str, str]) -> str:
    """A short hash of the values; what is watched counts where it is set."""
    values = {name: given.get(name, default) for name, default in RESULT_SETTINGS.items()}
    values |= {name: value for name, value in given.items() if _WATCHED.match(name)}
    text = "\n".join(f"{name}={value}" for name, value in sorted(values.items()))
    return hashlib.sha256(text.lower().encode()).hexdigest()[:16]
