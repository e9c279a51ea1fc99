"""The function lists against the Spark that runs."""

from __future__ import annotations

from headwater.define.lowering import functions


def test_every_function_of_spark_has_its_place(spark):
    """A function that Spark adds is unknown, and so never row-by-row, until it is listed."""
    registry = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    names, groups = registry.listFunction().iterator(), {}
    while names.hasNext():
        name = names.next()
        groups[name.funcName()] = registry.lookupFunction(name).get().getGroup()
    listed = (
        functions.AGGREGATES
        | functions.RANKINGS
        | functions.GENERATORS
        | functions.NONDETERMINISTIC
        | functions.CLOCK
        | functions.SCALARS
    )
    words = {name for name in groups if name.isidentifier()}
    assert words - listed == set()
    aggregates = {name for name, group in groups.items() if group == "agg_funcs"}
    assert aggregates <= functions.AGGREGATES
    assert not functions.SCALARS & (functions.AGGREGATES | functions.RANKINGS)
