-- aggregate of join of aggregate
SELECT t.w, sum(a.n) AS s FROM (SELECT g, k, count(*) n FROM r GROUP BY g, k) a JOIN t ON t.k = a.k GROUP BY t.w;

-- window over aggregate over join
SELECT g, x, rank() OVER (PARTITION BY x ORDER BY g) AS n FROM (SELECT r.g, count(s.k) AS x FROM r LEFT JOIN s ON r.g = s.g GROUP BY r.g);

-- union of aggregates
SELECT 'r' AS src, g, sum(k) AS t FROM r GROUP BY g UNION ALL SELECT 's', g, sum(k) FROM s GROUP BY g;

-- rollup below join
SELECT s.k, x.n FROM s JOIN (SELECT g, count(*) n FROM r GROUP BY ROLLUP (g)) x ON s.g = x.g;

-- clock below join
SELECT s.k, x.k AS xk FROM s JOIN (SELECT k, g FROM r WHERE d < current_date()) x ON s.g = x.g;

-- latest per key joined
SELECT t.w, z.c0 FROM t JOIN (SELECT k, c0 FROM s QUALIFY row_number() OVER (PARTITION BY k ORDER BY n DESC, c0, g, f) = 1) z ON t.k = z.k;

-- year over year
WITH y AS (SELECT year(d) y, sum(k) t FROM r GROUP BY year(d)) SELECT a.y, a.t - b.t AS grown FROM y a LEFT JOIN y b ON a.y = b.y + 1;

-- above average group
WITH x AS (SELECT g, sum(k) t FROM r GROUP BY g) SELECT g FROM x WHERE t > (SELECT avg(t) * 1.2 FROM x);
