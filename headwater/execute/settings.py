"""The session settings that a query's result depends on.

A view records their fingerprint with every commit; when it differs, the view is rebuilt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

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


def fingerprint(lookup: Callable[[str, str], str | None]) -> str:
    """A short hash of the settings' values; `lookup(name, default)` reads one."""
    values = [f"{name}={lookup(name, default)}" for name, default in RESULT_SETTINGS.items()]
    return hashlib.sha256("\n".join(values).lower().encode()).hexdigest()[:16]


def configured_fingerprint(spark: Mapping[str, str]) -> str:
    """The fingerprint of a session built from configuration, without building it."""
    return fingerprint(spark.get)
