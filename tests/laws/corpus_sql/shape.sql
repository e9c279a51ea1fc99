-- distinct
SELECT DISTINCT g, c2 FROM r;

-- union
SELECT g FROM r UNION SELECT g FROM s;

-- union all
SELECT g FROM r UNION ALL SELECT k FROM s;

-- except
SELECT g FROM r EXCEPT SELECT g FROM s;

-- except all
SELECT g FROM r EXCEPT ALL SELECT g FROM s;

-- minus
SELECT g FROM r MINUS SELECT g FROM s;

-- intersect
SELECT g FROM r INTERSECT SELECT g FROM s;

-- mixed
SELECT g FROM r UNION ALL (SELECT g FROM s EXCEPT SELECT v FROM t) INTERSECT SELECT k FROM s;

-- set limit
SELECT g FROM r UNION ALL SELECT g FROM s ORDER BY g LIMIT 3;

-- set order
SELECT g FROM r UNION ALL SELECT g FROM s ORDER BY g;

-- set of types
SELECT k, c0 FROM r UNION ALL SELECT n, k FROM s;

-- order
SELECT k, g FROM r ORDER BY k;

-- top
SELECT k, g FROM s ORDER BY k DESC NULLS LAST, g, c0, n LIMIT 2 OFFSET 1;

-- top in derived
SELECT z.k, t.v FROM (SELECT k, g FROM s ORDER BY k, g LIMIT 3) z JOIN t ON z.k = t.k;

-- sort by
SELECT k, g FROM r SORT BY k;

-- distribute by
SELECT k, g FROM r DISTRIBUTE BY g SORT BY k;

-- cluster by
SELECT k, g FROM r CLUSTER BY g;

-- cte
WITH a AS (SELECT g, sum(k) t FROM r GROUP BY g) SELECT s.k, a.t FROM s JOIN a USING (g);

-- cte twice
WITH a AS (SELECT g, max(k) m FROM r GROUP BY g) SELECT x.g, y.m FROM a x JOIN a y ON x.m = y.g;

-- cte of cte
WITH a AS (SELECT k, g FROM r), b AS (SELECT g, count(*) n FROM a GROUP BY g) SELECT * FROM b WHERE n > 1;

-- cte inside
SELECT * FROM (WITH a AS (SELECT k FROM r) SELECT k + 1 AS x FROM a);

-- cte with columns
WITH a(x, y) AS (SELECT k, g FROM r) SELECT x, sum(y) s FROM a GROUP BY x;

-- recursive cte
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT r.k, n.x FROM r JOIN n ON r.k = n.x;

-- values
SELECT r.k, v.name FROM r JOIN (VALUES (1, 'one'), (2, 'two')) AS v(id, name) ON r.k = v.id;

-- values in
SELECT k FROM r WHERE g IN (SELECT * FROM VALUES (1), (2));

-- no from
SELECT 1 AS a UNION ALL SELECT k FROM r;

-- star except
SELECT * EXCEPT (c0, f) FROM s;

-- qualified star
SELECT s.*, t.v FROM s JOIN t ON s.k = t.k;

-- struct star
SELECT k, st.* FROM r;

-- struct star through a derived table
SELECT x.* EXCEPT (b), count(*) AS n FROM (SELECT st AS x FROM r WHERE k > 0) d GROUP BY x.a;

-- stars over exploded structs
SELECT k, item.*, pair.value FROM r LATERAL VIEW explode(array(st, st)) AS item LATERAL VIEW explode(m) pair;

-- lateral alias
SELECT k + 1 AS a, a * 2 AS b FROM r;

-- lateral alias in where of derived
SELECT b FROM (SELECT k + 1 AS a, a * 2 AS b FROM r) WHERE b > 2;

-- pipe
FROM r |> WHERE k > 0 |> SELECT k, g;

-- pipe aggregate
FROM r |> AGGREGATE sum(k) AS s GROUP BY g;

-- from first
FROM r SELECT k, g;

-- parentheses
(SELECT k FROM r);

-- quoted
SELECT `k` AS `the key`, concat(c2, 'it''s') AS q FROM r;

-- unnamed
SELECT k + 1, g * 2 FROM r;

-- top by an expression over an alias
SELECT g, sum(k) AS total FROM s GROUP BY g ORDER BY -total, abs(g) LIMIT 2;

-- order by all
SELECT k, g FROM s ORDER BY ALL LIMIT 2;

-- a name that means another CTE further in
WITH c AS (SELECT k, v FROM t), d AS (WITH c AS (SELECT k, n AS v FROM s) SELECT * FROM c) SELECT c.k, c.v, d.v AS w FROM c JOIN d ON c.k = d.k;

-- two CTEs of one name side by side
SELECT a.k, b.n FROM (WITH c AS (SELECT k FROM t) SELECT * FROM c) a JOIN (WITH c AS (SELECT k, n FROM s) SELECT * FROM c) b ON a.k = b.k;

-- values without brackets
SELECT t.k, d.a FROM t JOIN VALUES 1, 2, 3 AS d(a) ON t.k = d.a;

-- order of a union by all
SELECT k, g FROM r UNION ALL SELECT k, v FROM t ORDER BY ALL DESC LIMIT 3;

-- pivot over truth
SELECT * FROM (SELECT k, n, f FROM s) PIVOT (sum(n) FOR f IN (true, false));

-- pivot over days
SELECT * FROM (SELECT g, k, d FROM r) PIVOT (max(k) FOR d IN (DATE'2024-01-03', DATE'2023-02-03' AS feb));

-- pivot of aggregates without names
SELECT * FROM (SELECT g, k, c2 FROM r) PIVOT (max(k) AS most, count(*) FOR c2 IN ('a', 'b'));

-- unpivot of several values
SELECT * FROM (SELECT k, g, c1, c0 FROM r) UNPIVOT ((n, x) FOR what IN ((g, c1) AS one, (k, c0)));

-- unpivot of several values with nulls
SELECT k, what, n FROM (SELECT k, g, n FROM s)
UNPIVOT INCLUDE NULLS ((m, n) FOR what IN ((g, n) AS one, (n, g) AS two));

-- imports by the names of their sources
WITH r AS (SELECT * FROM r), s AS (SELECT * FROM s), unread AS (SELECT * FROM t),
final AS (SELECT r.k, r.c2, s.n FROM r LEFT JOIN s ON r.k = s.k)
SELECT * FROM final;

-- top with offset alone
SELECT k, n FROM s ORDER BY n DESC, k, g OFFSET 1;

-- table as a query
TABLE t UNION ALL SELECT k, n, c0 FROM s;

-- limit over one row
SELECT count(*) AS n, sum(v) AS total FROM t LIMIT 100;

-- list of sorted rows
SELECT g, collect_list(k) AS ks FROM (SELECT * FROM r ORDER BY k DESC) GROUP BY g;
