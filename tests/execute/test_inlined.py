"""Relations that go into the text of the one that names them."""

from __future__ import annotations

from headwater.execute.inlined import Inlined
from headwater.plan.steps import Derive

_CHAIN = {
    "__hw_1_r": "SELECT * FROM `__hw_changes_r`",
    "__hw_2_filter": "SELECT * FROM `__hw_1_r` WHERE v > 5",
    "__hw_3_rows": "SELECT k FROM `__hw_2_filter`",
}


def test_a_chain_becomes_one_text():
    """Each before those that name it; what is written stays a relation of its own."""
    inlined = Inlined(dict.fromkeys(_CHAIN, 1), {"__hw_3_rows"})
    taken = [name for name, sql in _CHAIN.items() if inlined.takes(Derive(name, sql), sql)]
    assert taken == ["__hw_1_r", "__hw_2_filter"]
    whole = " ".join(inlined.whole(_CHAIN["__hw_3_rows"]).split())
    assert whole == (
        "WITH `__hw_1_r` AS ( SELECT * FROM `__hw_changes_r` ), `__hw_2_filter` AS ( SELECT * FROM "
        "`__hw_1_r` WHERE v > 5 ) SELECT k FROM `__hw_2_filter`"
    )


def test_what_two_name_or_what_is_kept_stays():
    """It would be computed twice."""
    sql = _CHAIN["__hw_1_r"]
    assert not Inlined({"__hw_1_r": 2}, ()).takes(Derive("__hw_1_r", sql), sql)
    assert not Inlined({"__hw_1_r": 1}, ()).takes(Derive("__hw_1_r", sql, once=True), sql)
    assert Inlined({}, ()).whole(sql) == sql


def test_a_text_with_ctes_of_its_own_is_put_in_brackets():
    """They stay its own."""
    inlined = Inlined({"__hw_1_r": 1}, ())
    inlined.takes(Derive("__hw_1_r", _CHAIN["__hw_1_r"]), _CHAIN["__hw_1_r"])
    text = "WITH c AS (SELECT 1) SELECT * FROM c, `__hw_1_r`"
    assert f"SELECT * FROM (\n{text}\n)" in inlined.whole(text)
