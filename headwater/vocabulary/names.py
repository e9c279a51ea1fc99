"""Names that Headwater reserves inside tables, logs and definitions."""

from __future__ import annotations

HIDDEN_PREFIX = "__hw_"
"""Columns of a view's table that hold upkeep state; never shown when a view is read by name."""

WEIGHT = "__hw_weight"
"""A change row's multiplicity: +n rows appear, -n rows vanish."""

FILE = "__hw_file"
"""The name of the file that a stored row is in."""

PLACE = "__hw_place"
"""The number of a stored row within its file."""

CHANGE = "_change_type"
"""Delta's own name for what happened to a row of a change feed."""

COMING = ("insert", "update_postimage")
GOING = ("delete", "update_preimage")
"""What it says of rows that a commit put in, and of those that it took out."""

CHAR_NOTE = "__CHAR_VARCHAR_TYPE_STRING"
"""Where Spark and Delta note that a column's text is of type CHAR or VARCHAR."""

RESERVED_PREFIX = "sys$"
"""Job names that only Headwater may use."""

TRANSACTION_APP = "headwater"
"""The Delta transaction application id under which a view's refresh sequence is fenced."""


def quoted(name: str) -> str:
    """Quote one identifier for Spark SQL."""
    return "`" + name.replace("`", "``") + "`"
