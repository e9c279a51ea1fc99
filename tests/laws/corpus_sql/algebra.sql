-- left theta
SELECT r.k, s.c0 FROM r LEFT JOIN s ON r.k < s.k;

-- filter on the right of a left join
SELECT r.k, s.c0 FROM r LEFT JOIN s ON r.g = s.g WHERE s.c0 IS NULL OR s.n > 1;

-- union all of one table twice
SELECT k, g FROM r UNION ALL SELECT k, g FROM r WHERE g = 1;

-- latest per key
SELECT g, k, n FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY k DESC, n DESC, c0 DESC) AS place FROM s) WHERE place = 1;

-- running total
SELECT g, k, sum(n) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total FROM (SELECT g, k, sum(n) AS n FROM s GROUP BY g, k);

-- moving average
SELECT g, k, avg(n) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS mean FROM (SELECT g, k, sum(n) AS n FROM s GROUP BY g, k);

-- top with offset
SELECT k, g, n FROM s ORDER BY k, g, n LIMIT 2 OFFSET 1;

-- top of groups
SELECT g, sum(n) AS total FROM s GROUP BY g ORDER BY total DESC, g LIMIT 2;

-- regressions
SELECT g, covar_pop(k, n) p, covar_samp(k, n) s, regr_count(n, k) c, regr_avgx(n, k) x FROM s GROUP BY g;

-- sketches
SELECT g, hll_sketch_estimate(hll_sketch_agg(k)) n, approx_top_k(k, 2) t FROM s GROUP BY g;

-- several distinct
SELECT g, count(DISTINCT k) a, count(DISTINCT n) b, sum(DISTINCT n) c FROM s GROUP BY g;

-- extremum by
SELECT g, max_by(c0, struct(k, n)) a, min_by(struct(c0, n), struct(k, n, c0)) b FROM s GROUP BY g;

-- variance of decimals
SELECT g, stddev(c0) d, var_pop(c0) v FROM r GROUP BY g;

-- threshold from a sub-query
SELECT k, n FROM s WHERE n >= (SELECT avg(v) FROM t);

-- except all of joins
SELECT r.g, s.c0 FROM r JOIN s ON r.g = s.g EXCEPT ALL SELECT k, w FROM t;

-- intersect all
SELECT g FROM r INTERSECT ALL SELECT g FROM s;

-- distinct below aggregate
SELECT c2, count(*) n FROM (SELECT DISTINCT g, c2 FROM r) GROUP BY c2;

-- inline
SELECT k, x.a, x.b FROM r LATERAL VIEW inline(array(st)) x AS a, b;
