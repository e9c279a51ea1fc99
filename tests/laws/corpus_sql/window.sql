-- partition
SELECT k, sum(k) OVER (PARTITION BY g) w FROM r;

-- row_number
SELECT * FROM (SELECT k, g, row_number() OVER (PARTITION BY g ORDER BY k, c0, c1, c2) n FROM r) WHERE n = 1;

-- qualify
SELECT k, g FROM s QUALIFY row_number() OVER (PARTITION BY g ORDER BY k, c0, n, f) = 1;

-- qualify alias
SELECT k, g, rank() OVER (PARTITION BY g ORDER BY k) AS x FROM s QUALIFY x <= 2;

-- qualify grouped
SELECT g, c0, count(*) AS n FROM s GROUP BY g, c0 QUALIFY rank() OVER (PARTITION BY g ORDER BY n DESC) = 1;

-- named
SELECT k, sum(k) OVER w AS a, count(*) OVER w AS b FROM s WINDOW w AS (PARTITION BY g);

-- named ordered
SELECT k, sum(n) OVER w AS a FROM s WINDOW w AS (PARTITION BY g ORDER BY k RANGE UNBOUNDED PRECEDING);

-- rows frame
SELECT k, sum(k) OVER (PARTITION BY g ORDER BY k, c0, n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) w FROM s;

-- range frame
SELECT k, sum(n) OVER (PARTITION BY g ORDER BY k RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) w FROM s;

-- lag lead
SELECT k, lag(k) OVER (PARTITION BY g ORDER BY k) a, lead(k, 1, 0) OVER (PARTITION BY g ORDER BY k) b FROM s;

-- lag ignore nulls
SELECT k, lag(k) IGNORE NULLS OVER (PARTITION BY g ORDER BY k, c0, n) a FROM s;

-- first_value
SELECT k, first_value(k) OVER (PARTITION BY g ORDER BY k) a, nth_value(k, 2) OVER (PARTITION BY g ORDER BY k) b FROM s;

-- ranks
SELECT k, rank() OVER (PARTITION BY g ORDER BY k) a, percent_rank() OVER (PARTITION BY g ORDER BY k) b, ntile(2) OVER (PARTITION BY g ORDER BY k, c0, n) c FROM s;

-- two partitions
SELECT k, sum(k) OVER (PARTITION BY g) a, sum(k) OVER (PARTITION BY g, c0) b FROM s;

-- disjoint partitions
SELECT k, sum(k) OVER (PARTITION BY g) a, sum(k) OVER (PARTITION BY c0) b FROM s;

-- unpartitioned
SELECT k, row_number() OVER (ORDER BY k, g, c0, n) a FROM s;

-- over aggregate
SELECT g, sum(sum(k)) OVER (PARTITION BY g % 2) t FROM r GROUP BY g;

-- share of total
SELECT g, sum(k) * 1.0 / sum(sum(k)) OVER () AS share FROM r GROUP BY g;

-- filter
SELECT k, count(*) FILTER (WHERE k > 1) OVER (PARTITION BY g) w FROM s;

-- in expression
SELECT k, k - avg(k) OVER (PARTITION BY g) AS dev FROM s;

-- in order
SELECT k, g FROM s ORDER BY k, g, c0, n LIMIT 2 OFFSET 0;

-- rank within the levels of a rollup
SELECT g, c2, grouping(g) + grouping(c2) AS level, rank() OVER (PARTITION BY grouping(g) + grouping(c2), CASE WHEN grouping(c2) = 0 THEN g END ORDER BY sum(k)) AS place FROM r GROUP BY ROLLUP (g, c2) ORDER BY level DESC, CASE WHEN level = 0 THEN g END, place, c2 LIMIT 100;
-- place among all groups
SELECT g, sum(k) AS s, rank() OVER (ORDER BY sum(k) DESC) AS place FROM r GROUP BY g;
-- over all, of what is not shown
SELECT k + 1 AS next, lag(g) OVER (ORDER BY k, g) AS before, k - max(k) OVER () AS behind FROM s;
-- first places among all
SELECT g, n FROM (SELECT g, count(*) AS n, rank() OVER (ORDER BY count(*) DESC, g) AS place FROM r GROUP BY g) WHERE place <= 2;
