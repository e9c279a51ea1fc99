"""Functions that the user registered in the session: what kind they are, and what is in them.

A deterministic one is followed like a built-in function. Its body is part of what a view means, so
a fingerprint of it is kept with the compiled view; another body rebuilds the view.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.execute.fingerprint import fingerprint
from headwater.execute.jvm import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCALAR = {100, 101, 200, 204}
"""Evaluation types of Python functions that make one value of one row."""
_AGGREGATE = {202, 252}


@dataclass(frozen=True)
class OwnFunction:
    """A registered function; `kind` is scalar or aggregate."""

    kind: str
    fingerprint: str


def own_functions(session: SparkSession, names: Iterable[str]) -> dict[str, OwnFunction]:
    """Those of the names that are deterministic Python functions of the session.

    It looks into Spark's own registry. What it does not understand there is not one of them, and a
    view that calls it is rebuilt.
    """
    wanted = set(names)
    try:
        calls = tuple(_calls(session, wanted)) if wanted else ()
        kinds = {name: (call, _kind(call)) for name, call in calls}
        return {
            name: OwnFunction(kind, _fingerprint(call))
            for name, (call, kind) in kinds.items()
            if kind is not None
        }
    except Exception:  # noqa: BLE001
        return {}


def _calls(session: SparkSession, wanted: set[str]) -> Iterator[tuple[str, Any]]:
    """A call without arguments of each function that has a builder for one."""
    registry = session._jsparkSession.sessionState().functionRegistry()  # noqa: SLF001
    python = java(session, "org.apache.spark.api.python.PythonUtils")
    identifiers = registry.listFunction()
    for position, qualified in enumerate(identifiers.mkString("\n").split("\n")):
        name = qualified.rsplit(".", 1)[-1].strip("`").lower()
        if name not in wanted:
            continue
        builder = registry.lookupFunctionBuilder(identifiers.apply(position)).get()
        call = _built(builder, python.toSeq([]))
        if call is not None:
            yield name, call


def _built(builder: Any, arguments: Any) -> Any:
    try:
        return builder.apply(arguments)
    except Exception:  # noqa: BLE001  (not a Python function: its builder wants arguments)
        return None


def _kind(call: Any) -> str | None:
    if call.getClass().getSimpleName() not in {"PythonUDF", "PythonUDAF"}:
        return None
    if not call.udfDeterministic():
        return None
    if call.evalType() in _SCALAR:
        return "scalar"
    return "aggregate" if call.evalType() in _AGGREGATE else None


def _fingerprint(call: Any) -> str:
    described = f"{call.evalType()} {call.dataType().json()} {_body(call)}"
    return hashlib.sha256(described.encode()).hexdigest()[:16]


def _body(call: Any) -> str:
    """The function's code if it can be had, else the bytes that are sent to the executors."""
    from pyspark.cloudpickle import loads  # noqa: PLC0415  (pyspark loads only where Spark runs)

    command = call.func().command().mkString(",")
    try:
        function, *_ = loads(bytes(int(number) % 256 for number in command.split(",")))
        return fingerprint(function)
    except Exception:  # noqa: BLE001  (a large one is sent another way, and a module may be missing)
        return str(command)
