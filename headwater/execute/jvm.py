"""Classes of the JVM and Scala's objects, asked for by their whole names and only once.

`jvm.org.apache.spark.Thing` asks the JVM for `org`, `org.apache` and so on, one after the other. It
looks for each as a class in some three hundred jars before it answers that this is a package; a
small refresh spent a tenth of its time on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from headwater.vocabulary.errors import SparkFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_found: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
"""Of each gateway, because a new JVM has other objects: name -> class or object."""

_ASKED_BY_PYSPARK = ("PythonUtils", "PythonSQLUtils")
"""It looks for these anew in all packages that it imports, with every query."""


def java(session: SparkSession, name: str) -> Any:
    """A class: its constructor, and its static methods."""
    known = _known(session)
    if name not in known:
        known[name] = getattr(session.sparkContext._jvm, name)  # noqa: SLF001
    return known[name]


def java_class(session: SparkSession, name: str) -> Any:
    """A class as an object, found where Spark itself looks for added jars."""
    known, key = _known(session), f"class {name}"
    if key not in known:
        loader = java(session, "java.lang.Thread").currentThread().getContextClassLoader()
        known[key] = java(session, "java.lang.Class").forName(name, True, loader)  # noqa: FBT003
    return known[key]


def module(session: SparkSession, name: str) -> Any:
    """A Scala object by the name of its class."""
    known, key = _known(session), f"module {name}"
    if key not in known:
        known[key] = java_class(session, name).getField("MODULE$").get(None)
    return known[key]


def nothing(session: SparkSession) -> Any:
    """Scala's None."""
    return module(session, "scala.None$")


def some(session: SparkSession, value: Any) -> Any:
    """Scala's Some."""
    return java(session, "scala.Some")(value)


def know_helpers(session: SparkSession) -> None:
    """Tell PySpark where its own helpers are."""
    jvm: Any = session.sparkContext._jvm  # noqa: SLF001
    packages = ("org.apache.spark.api.python", "org.apache.spark.sql.api.python")
    for name, package in zip(_ASKED_BY_PYSPARK, packages, strict=True):
        setattr(jvm, name, getattr(jvm, f"{package}.{name}"))


def _known(session: SparkSession) -> dict[str, Any]:
    gateway = session.sparkContext._gateway  # noqa: SLF001
    if gateway is None:
        raise SparkFailed("Spark has ended")
    return _found.setdefault(gateway, {})
