"""σ_K(R) = σ_K(σ_[min K, max K](R)): rows far from all touched keys need not be read.

The touched keys are only known once a refresh runs. So the SQL of a plan has a mark where their
bounds belong; it is `TRUE` as it stands, and execution may fill in ranges that hold all the keys.
With literals in its filter a scan skips files and parts of files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass

from headwater.plan.render import Leaves, render
from headwater.vocabulary.algebra import Unary


@dataclass(frozen=True)
class Bound:
    """`key`, over the rows to be filtered, must equal some `value` of a relation.

    With `upper` it must lie between the two of some row; a NULL there is an end that is open.
    """

    key: str
    relation: str
    value: str
    rows: str = ""  # the name of what is filtered, where it is a table as it is stored
    upper: str = ""


@dataclass(frozen=True)
class Within(Unary):
    """The rows of the input that may have a partner in a relation, and perhaps others."""

    bounds: tuple[Bound, ...]


@render.register
def _within(node: Within, leaves: Leaves) -> str:
    return f"SELECT * FROM ({render(node.input, leaves)}) WHERE {within(node.bounds)}"


_MARK = re.compile(r"TRUE /\*within (\{.*?\})\*/")


def within(bounds: tuple[Bound, ...]) -> str:
    """The marks of some bounds as one condition."""
    return " AND ".join(_mark(bound) for bound in bounds) or "TRUE"


def _mark(bound: Bound) -> str:
    told = json.dumps(asdict(bound), ensure_ascii=False)
    return "TRUE" if "*/" in told else f"TRUE /*within {told}*/"


def marked(sql: str) -> tuple[Bound, ...]:
    """The bounds that a SQL has marks of."""
    return tuple(Bound(**json.loads(found[1])) for found in _MARK.finditer(sql))


def filled(sql: str, condition: Callable[[Bound], str]) -> str:
    """The SQL with a condition in the place of every mark."""
    return _MARK.sub(lambda found: condition(Bound(**json.loads(found[1]))), sql)
