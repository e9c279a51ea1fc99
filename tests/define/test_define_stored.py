"""Definitions in JSON, and what may be loaded without the SQL parser."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from headwater.define.parse import parse
from headwater.define.statements import Create
from headwater.define.stored import from_json, to_json
from headwater.define.structure import check_structure

STATEMENTS = [
    "CREATE SOURCE S FROM DELTA 'p' KEY (a) AS BATCH",
    "CREATE SOURCE s FROM DELTA a.b",
    "CREATE SOURCE s FROM JDBC 'u' TABLE 't' KEY (a) RELOAD EVERY INTERVAL 5 MINUTES",
    "CREATE SOURCE s FROM FILES 'p' FORMAT csv",
    "CREATE MATERIALIZED VIEW v AS SELECT * FROM s",
    (
        "CREATE MATERIALIZED VIEW V COMMENT 'x' KEY (a) CLUSTER BY (b) COPIES ('c') "
        "REFRESH EVERY INTERVAL 1.5 HOURS POLICY STRICT WARN AFTER INTERVAL 1 DAY AS SELECT 1 a"
    ),
    "CREATE MATERIALIZED VIEW v REFRESH CRON '0 6 * * *' OVERDUE AFTER INTERVAL 1 DAY AS SELECT 1",
    "CREATE MATERIALIZED VIEW v TARGET LAG DOWNSTREAM PARTITIONED BY (a) AS SELECT 1 a",
    "CREATE MATERIALIZED VIEW v REFRESH GREEDY TARGET LAG INTERVAL 1 SECOND AS SELECT 1",
    "CREATE HANDLER h PROCESS a, b",
    (
        "CREATE CONSUMER c ON v TYPE vector OPTIONS (a = 1, b = 'x') TRIGGER PERIODIC "
        "INTERVAL 1 DAY SHARED PRIORITY 2 START FROM NOW"
    ),
    "CREATE CONSUMER c ON v TYPE delta TRIGGER GREEDY",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_definition_survives_json(text: str) -> None:
    """What is written down is read back equal, fingerprint and all."""
    (made,) = parse(text).statements
    assert isinstance(made, Create)
    again = from_json(json.loads(json.dumps(to_json(made.definition))))
    assert repr(again) == repr(made.definition)  # equal, and of the same types
    assert getattr(again, "fingerprint", "") == getattr(made.definition, "fingerprint", "")


def test_definitions_and_graph_load_without_the_parser() -> None:
    """A command with nothing to refresh pays for no SQL parser."""
    modules = "definitions, graph, stored, diagnostics, codes"
    check = f"import sys; from headwater.define import {modules}; print('sqlglot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_thousand_views_are_parsed_and_checked_in_seconds() -> None:
    """A big project is checked while its author waits."""
    view = (
        "CREATE MATERIALIZED VIEW v{0} CLUSTER BY (region) AS "
        "SELECT o.region, sum(o.amount) AS total, count(*) AS n FROM {1} o "
        "JOIN c ON o.id = c.id LEFT JOIN x ON x.a = o.b WHERE o.status IN ('a', 'b') AND o.x = {0} "
        "GROUP BY o.region HAVING sum(o.amount) > 4;\n"
    )
    sources = "".join(f"CREATE SOURCE {name} FROM DELTA '{name}';\n" for name in "ocx")
    text = sources + "".join(view.format(n, f"v{n - 1}" if n else "o") for n in range(1000))
    start = time.process_time()
    parsed = parse(text)
    made = [
        statement.definition for statement in parsed.statements if isinstance(statement, Create)
    ]
    assert (parsed.problems, check_structure(made), len(made)) == ((), (), 1003)
    assert time.process_time() - start < 10
