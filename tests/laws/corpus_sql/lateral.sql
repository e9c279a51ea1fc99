-- view explode
SELECT k, x FROM r LATERAL VIEW explode(arr) e AS x;

-- view outer explode
SELECT k, x FROM r LATERAL VIEW OUTER explode(arr) e AS x;

-- view posexplode
SELECT k, p, x FROM r LATERAL VIEW posexplode(arr) e AS p, x;

-- two views
SELECT k, x, y FROM r LATERAL VIEW explode(arr) a AS x LATERAL VIEW explode(arr) b AS y;

-- view inline
SELECT k, a, b FROM r LATERAL VIEW inline(array(st)) e AS a, b;

-- view stack
SELECT k, x FROM r LATERAL VIEW stack(2, k, g) e AS x;

-- view json_tuple
SELECT k, a FROM s LATERAL VIEW json_tuple(c0, 'a') j AS a;

-- select explode
SELECT k, explode(arr) AS x FROM r;

-- select explode unnamed
SELECT k, explode(arr) FROM r;

-- select explode outer
SELECT k, explode_outer(arr) AS x FROM r WHERE k > 0;

-- select posexplode
SELECT k, posexplode(arr) AS (p, x) FROM r;

-- select inline
SELECT k, inline(array(st, st)) FROM r;

-- select stack
SELECT k, stack(2, 'a', g, 'b', k) AS (n, v) FROM r;

-- select explode grouped
SELECT g, explode(array(min(k), max(k))) AS x FROM r GROUP BY g;

-- select explode distinct
SELECT DISTINCT explode(arr) AS x FROM r;

-- lateral function
SELECT r.k, e.x FROM r, LATERAL explode(r.arr) AS e(x);

-- join lateral function
SELECT r.k, e.x FROM r JOIN LATERAL explode(r.arr) AS e(x);

-- left join lateral function
SELECT r.k, e.x FROM r LEFT JOIN LATERAL explode(r.arr) AS e(x);

-- lateral subquery
SELECT r.k, z.c0 FROM r, LATERAL (SELECT s.c0 FROM s WHERE s.g = r.g) z;

-- lateral aggregate
SELECT r.k, z.n FROM r, LATERAL (SELECT count(*) AS n FROM s WHERE s.g = r.g) z;

-- lateral computed
SELECT r.k, z.y FROM r, LATERAL (SELECT r.k * 2 AS y) z;

-- lateral chain
SELECT r.k, a.y, b.z FROM r, LATERAL (SELECT r.k * 2 AS y) a, LATERAL (SELECT a.y + 1 AS z) b;

-- left join lateral
SELECT r.k, z.c0 FROM r LEFT JOIN LATERAL (SELECT s.c0 FROM s WHERE s.g = r.g) z ON true;

-- lateral top
SELECT r.k, z.n FROM r, LATERAL (SELECT s.n FROM s WHERE s.g = r.g ORDER BY s.n DESC, s.k, s.c0 LIMIT 1) z;

-- table function
SELECT id FROM range(5);

-- joined to range
SELECT r.k, x.id FROM r JOIN range(3) x ON r.k = x.id;

-- generator over constants in from
SELECT n, count(k) AS c FROM explode(sequence(1, 4)) AS x(n) LEFT JOIN r ON r.k = n GROUP BY n;

-- generators over constants joined
SELECT t.k, p.pos, x.w AS xw FROM posexplode(array(1, 2)) AS p JOIN t ON p.col = t.k CROSS JOIN stack(2, 1, 'x', 2, 'y') AS x(n, w) WHERE t.w = x.w OR t.k = x.n;

-- star over exploded from_json
SELECT k, e.* FROM s LATERAL VIEW explode(from_json(concat('[', c0, ']'), 'array<struct<a:int>>')) AS e;

-- variant_explode
SELECT k, v.key, v.value::int AS n FROM s, LATERAL variant_explode(try_parse_json(c0)) AS v;

-- join lateral explode on
SELECT k, e.x FROM r JOIN LATERAL explode(arr) AS e(x) ON e.x > 1;
