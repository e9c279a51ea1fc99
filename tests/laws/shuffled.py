"""An oracle that reads the new state in another order each time, as after an exchange."""

from __future__ import annotations

from headwater.plan.planning import new_name
from headwater.testing.oracle import Oracle


class Shuffled(Oracle):
    """Rows of the new state come as chance has it."""

    def _register(self, view, tables, *texts):
        super()._register(view, tables, *texts)
        for name in view.catalog:
            rows = self._local(tables[name].after, tables[name].ddl)
            rows.createOrReplaceTempView(f"{name}_rows")
            self._session.sql(
                f"CREATE OR REPLACE TEMPORARY VIEW {new_name(name)} AS "
                f"SELECT * FROM {name}_rows ORDER BY rand()"
            )
