"""Any text at all."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwater.define.diagnostics import Report
from headwater.define.parse import parse
from headwater.define.statements import Create
from headwater.define.structure import check_structure

VOCABULARY = """
    CREATE OR REPLACE MATERIALIZED VIEW SOURCE HANDLER CONSUMER v t FROM DELTA JDBC 'p' KEY ( ) , a
    AS SELECT * WHERE INTERVAL 5 MINUTES - REFRESH EVERY CRON ON CHANGE TYPE delta OPTIONS = $ .
    `q` `` 1.5 10L /* */ ' " ` -- ; STREAM WITH LIMIT { } % [ ] :: |> :p ? @ ALTER SET DROP IF
    EXISTS NOT PAUSE CANCEL TARGET LAG DOWNSTREAM X' r' TABLESAMPLE LATERAL OVER JOIN CASE END SHOW
    BEGIN é 名 \\
"""
LAYOUT = ["\n", "\t", "GROUP BY", "CREATE MATERIALIZED VIEW v AS SELECT"]
WORDS = st.sampled_from([*VOCABULARY.split(), *LAYOUT])


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map(" ".join)))
@example("\x00")
@example("'")
@example("CREATE MATERIALIZED VIEW v AS SELECT |> LIMIT x")
def test_no_text_brings_a_check_down(text: str) -> None:
    """Whatever is typed, the answer is statements and problems with places inside the text."""
    parsed = parse(text)
    made = [
        statement.definition for statement in parsed.statements if isinstance(statement, Create)
    ]
    problems = [*parsed.problems, *check_structure(made)]
    lines = text.split("\n")
    for problem in problems:
        assert 1 <= problem.location.line <= len(lines)
        assert 1 <= problem.location.column <= len(lines[problem.location.line - 1]) + 1
    assert Report.of(problems).text({"<sql>": text})
