"""How an expert would keep each shape: every delta is made once, and few files are touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.matrix.changes import Window
from benchmarks.matrix.hand import Hand

NEW = "_change_type IN ('insert', 'update_postimage')"
SIGN = f"CASE WHEN {NEW} THEN 1 ELSE -1 END"


def _filter(hand: Hand, window: Window) -> str:
    columns = "id, customer_id, product_id, day, amount"
    feed = hand.feed("sales", window, f"{columns}, quantity")
    if feed.where("_change_type <> 'insert'").isEmpty():
        hand.append("filter", hand.sql(f"SELECT {columns} FROM feed WHERE quantity > 5"))
        return "append"
    hand.made(
        "change",
        f"SELECT {columns}, _change_type = 'delete' OR quantity <= 5 AS gone FROM feed "
        "WHERE _change_type <> 'update_preimage'",
    )
    hand.upsert("filter", "change", columns)
    return "merge"


def _group_by(hand: Hand, window: Window) -> str:
    hand.feed("sales", window, "product_id, amount, quantity")
    hand.made(
        "change",
        f"SELECT product_id, sum(amount * {SIGN}) AS total, sum(quantity * {SIGN}) AS pieces, "
        f"sum({SIGN}) AS n FROM feed GROUP BY product_id",
    )
    hand.add("group_by", "change", "product_id", "total, pieces, n")
    return "merge"


def _star(hand: Hand, window: Window) -> str:
    hand.feed("sales", window, "customer_id, product_id, store_id, day, amount")
    hand.made(
        "change",
        f"SELECT c.region, p.category, s.day, sum(s.amount * {SIGN}) AS total, sum({SIGN}) AS n "
        "FROM feed s JOIN customer c ON s.customer_id = c.id "
        "JOIN product p ON s.product_id = p.id JOIN store o ON s.store_id = o.id "
        "WHERE o.country <> 'country 1' GROUP BY c.region, p.category, s.day",
    )
    hand.add("star", "change", "region, category, day", "total, n")
    return "merge"


def _left_join(hand: Hand, window: Window) -> str:
    feed = hand.feed("sales", window, "id, product_id, day, amount")
    rows = hand.made(
        "change",
        "SELECT f.id, f.day, f.amount, p.name, p.category, _change_type = 'delete' AS gone "
        "FROM feed f LEFT JOIN product p ON f.product_id = p.id "
        "WHERE _change_type <> 'update_preimage'",
    )
    if feed.where("_change_type <> 'insert'").isEmpty():
        hand.append("left_join", rows.drop("gone"))
        return "append"
    hand.upsert("left_join", "change", "id, day, amount, name, category")
    return "merge"


def _distinct(hand: Hand, window: Window) -> str:
    feed = hand.feed("sales", window, "store_id, day")
    low, high = feed.selectExpr("min(day)", "max(day)").collect()[0]
    between = f"day BETWEEN DATE'{low}' AND DATE'{high}'"
    hand.made("touched", "SELECT DISTINCT store_id, day FROM feed")
    hand.made(
        "change",
        "SELECT k.store_id, k.day, s.day IS NULL AS gone FROM touched k LEFT JOIN "
        f"(SELECT DISTINCT store_id, day FROM sales WHERE {between}) s "
        "ON k.store_id = s.store_id AND k.day = s.day",
    )
    hand.sql(
        f"MERGE INTO delta.`{hand.path('distinct')}` t USING change s "
        f"ON t.store_id = s.store_id AND t.day = s.day AND t.{between} "
        "WHEN MATCHED AND s.gone THEN DELETE "
        "WHEN NOT MATCHED AND NOT s.gone THEN INSERT (store_id, day) VALUES (s.store_id, s.day)"
    )
    return "merge"


def _window(hand: Hand, window: Window) -> str:
    """The partitions of changed rows anew; rows that are gone are known from the feed."""
    hand.feed("sales", window, "id, customer_id")
    columns = "id, customer_id, day, amount, so_far, nth"
    hand.made(
        "change",
        "SELECT *, false AS gone FROM (SELECT id, customer_id, day, amount, "
        "sum(amount) OVER (PARTITION BY customer_id ORDER BY id) AS so_far, "
        "row_number() OVER (PARTITION BY customer_id ORDER BY id) AS nth "
        "FROM sales LEFT SEMI JOIN feed USING (customer_id)) "
        "UNION ALL SELECT id, customer_id, NULL, NULL, NULL, NULL, true FROM feed "
        "WHERE _change_type = 'delete'",
    )
    hand.upsert("window", "change", columns)
    return "merge"


def _top_k(hand: Hand, window: Window) -> str:
    """Nothing from below moves up as long as enough rows are not below the old last one."""
    hand.feed("sales", window, "id, customer_id, amount")
    hand.made("old", "SELECT * FROM top_k")
    best = hand.made(
        "best",
        "SELECT c.* FROM (SELECT old.* FROM old LEFT ANTI JOIN feed USING (id) UNION ALL "
        f"SELECT id, customer_id, amount FROM feed WHERE {NEW}) c, "
        "(SELECT amount, id FROM old ORDER BY amount, id DESC LIMIT 1) last "
        "WHERE c.amount > last.amount OR c.amount = last.amount AND c.id <= last.id "
        "ORDER BY c.amount DESC, c.id LIMIT 100",
    )
    if best.count() < hand.sql("SELECT * FROM old").count():
        shown = "SELECT id, customer_id, amount FROM sales ORDER BY amount DESC, id LIMIT 100"
        best = hand.sql(shown)
    elif best.exceptAll(hand.sql("SELECT * FROM old")).isEmpty():
        return "nothing"
    hand.overwrite("top_k", best)
    return "overwrite"


def _chain(hand: Hand, window: Window) -> str:
    """MERGE into the two large views, the two small ones anew."""
    hand.feed("sales", window, "id, customer_id, product_id, day, amount, status")
    hand.made(
        "joined",
        "SELECT f.*, p.category FROM feed f JOIN product p ON f.product_id = p.id",
    )
    hand.made(
        "change",
        "SELECT id, customer_id, day, amount, category, "
        "_change_type = 'delete' OR status = 'returned' AS gone FROM joined "
        "WHERE _change_type <> 'update_preimage'",
    )
    hand.upsert("kept_sales", "change", "id, customer_id, day, amount, category")
    hand.made(
        "groups",
        f"SELECT customer_id, category, sum(amount * {SIGN}) AS total, sum({SIGN}) AS n "
        "FROM joined WHERE status <> 'returned' GROUP BY customer_id, category",
    )
    hand.add("by_customer", "groups", "customer_id, category", "total, n")
    hand.overwrite(
        "by_region",
        hand.sql(
            "SELECT c.region, b.category, sum(b.total) AS total, count(*) AS buyers "
            "FROM by_customer b JOIN customer c ON b.customer_id = c.id "
            "GROUP BY c.region, b.category"
        ),
    )
    hand.overwrite(
        "places",
        hand.sql(
            "SELECT region, category, total, rank() OVER "
            "(PARTITION BY region ORDER BY total DESC, category) AS place FROM by_region"
        ),
    )
    return "merge"


PROCEDURES: Mapping[str, Callable[[Hand, Window], str]] = {
    "filter": _filter,
    "group_by": _group_by,
    "star": _star,
    "left_join": _left_join,
    "distinct": _distinct,
    "window": _window,
    "top_k": _top_k,
    "chain": _chain,
}
