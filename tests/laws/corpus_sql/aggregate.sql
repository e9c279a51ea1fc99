-- sum count avg
SELECT g, sum(c0) s, count(*) n, count(c2) c, avg(c0) a FROM r GROUP BY g;

-- count of several
SELECT g, count(k, c2) n FROM r GROUP BY g;

-- min max
SELECT g, min(c2) lo, max(ts) hi FROM r GROUP BY g;

-- float sums
SELECT g, sum(c1) s, avg(c1) a, stddev(c1) d FROM r GROUP BY g;

-- distinct
SELECT g, count(DISTINCT k) n, sum(DISTINCT k) t FROM r GROUP BY g;

-- distinct of several
SELECT g, count(DISTINCT k, c2) n FROM r GROUP BY g;

-- filter
SELECT g, sum(k) FILTER (WHERE k > 1) s, count(*) FILTER (WHERE c2 = 'a') n FROM r GROUP BY g;

-- filter distinct
SELECT g, count(DISTINCT k) FILTER (WHERE k > 0) n FROM r GROUP BY g;

-- count_if bool
SELECT g, count_if(k > 1) n, bool_or(k > 1) o, every(k > 0) e FROM r GROUP BY g;

-- percentiles
SELECT g, percentile(k, 0.5) p, median(k) m, percentile_approx(k, 0.5) a FROM r GROUP BY g;

-- within group
SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY k) p FROM r GROUP BY g;

-- collect
SELECT g, sort_array(collect_list(k)) l, sort_array(collect_set(k)) s FROM r GROUP BY g;

-- listagg
SELECT g, listagg(c2, ',') WITHIN GROUP (ORDER BY c2) l FROM r GROUP BY g;

-- by
SELECT g, max_by(n, k) a, min_by(n, k) b FROM s GROUP BY g;

-- moments
SELECT g, var_samp(k) v, stddev_pop(k) s, regr_count(k, g) c FROM r GROUP BY g;

-- sketch
SELECT g, approx_count_distinct(k) n, bit_or(k) b FROM r GROUP BY g;

-- mode
SELECT g, mode(k, true) m FROM r GROUP BY g;

-- global
SELECT sum(k) s, count(*) n FROM r;

-- global of float
SELECT sum(c1) s FROM r;

-- by ordinal
SELECT g, c2, sum(k) s FROM r GROUP BY 1, 2;

-- by alias
SELECT year(d) AS y, sum(k) s FROM r GROUP BY y;

-- by all
SELECT g, c2, sum(k) s FROM r GROUP BY ALL;

-- by expression
SELECT k % 2 AS m, sum(g) s FROM r GROUP BY k % 2;

-- by constant
SELECT 'x' AS x, count(*) n FROM r GROUP BY 1;

-- having
SELECT g, sum(k) s FROM r GROUP BY g HAVING count(*) > 1 AND g IS NOT NULL;

-- having alias
SELECT g, sum(k) AS total FROM r GROUP BY g HAVING total > 2;

-- having alone
SELECT max(k) m FROM r HAVING count(*) > 2;

-- rollup
SELECT g, c2, sum(k) s, count(*) n FROM r GROUP BY ROLLUP (g, c2);

-- with rollup
SELECT g, c2, sum(k) s FROM r GROUP BY g, c2 WITH ROLLUP;

-- cube
SELECT g, c2, sum(k) s FROM r GROUP BY CUBE (g, c2);

-- grouping sets
SELECT g, c2, sum(k) s FROM r GROUP BY GROUPING SETS ((g), (c2), ());

-- grouping sets twice
SELECT g, sum(k) s FROM r GROUP BY GROUPING SETS ((g), (g), ());

-- grouping sets after keys
SELECT g, c2, sum(k) s FROM r GROUP BY g, c2 GROUPING SETS ((g, c2), (g));

-- keys and rollup
SELECT g, c2, count(*) n FROM r GROUP BY g, ROLLUP (c2);

-- grouping functions
SELECT g, c2, grouping(g) a, grouping_id(g, c2) b, grouping_id() c, sum(k) s FROM r GROUP BY CUBE (g, c2) HAVING grouping(c2) = 0 OR count(*) > 1;

-- rollup of expression
SELECT year(d) y, month(d) m, sum(k) s FROM r GROUP BY ROLLUP (year(d), month(d));

-- pivot
SELECT * FROM (SELECT k, g, c2 FROM r) PIVOT (sum(k) FOR c2 IN ('a', 'b'));

-- pivot two
SELECT * FROM (SELECT k, g, c2 FROM r) PIVOT (sum(k) AS s, count(*) AS n FOR c2 IN ('a' AS x, 'b' AS y));

-- unpivot
SELECT * FROM (SELECT k, g, v FROM s JOIN t USING (k)) UNPIVOT (val FOR name IN (g, v));

-- unpivot nulls
SELECT c0, name, val FROM s UNPIVOT INCLUDE NULLS (val FOR name IN (g AS gg, k AS kk));

-- of aggregate
SELECT n, count(*) c FROM (SELECT g, count(*) n FROM r GROUP BY g) GROUP BY n;

-- of union
SELECT x, sum(y) s FROM (SELECT g x, k y FROM r UNION ALL SELECT g, k FROM s) GROUP BY x;

-- global of which nothing is shown
SELECT 1 AS one FROM (SELECT max(k) AS m FROM r) x;

-- global below a semi join
SELECT k FROM r WHERE EXISTS (SELECT max(v) FROM t WHERE t.k = r.k);

-- by time window
SELECT window(ts, '1 hour').start AS t, count(*) AS n, sum(k) AS s FROM r GROUP BY window(ts, '1 hour');

-- by sliding time window
SELECT window(ts, '1 hour', '30 minutes').start AS t, min(k) AS lo FROM r GROUP BY window(ts, '1 hour', '30 minutes');

-- by time window, its parts
SELECT window.start, window.end, g, avg(k) AS mean FROM r GROUP BY window(ts, '2 days 3 hours'), g;

-- by time window, named and ordinal
SELECT window(ts, '1 week', '1 week', '4 days') AS w, max(c0) AS m FROM r GROUP BY 1;

-- by overlapping time windows of uneven length
SELECT window(ts, '100 minutes', '45 minutes') AS w, count(*) AS n, sum(k) AS s FROM r GROUP BY w;

-- by time window over a join
SELECT window(r.ts, '1 day').start AS day, s.c0, count(*) AS n FROM r JOIN s ON r.k = s.k
GROUP BY window(r.ts, '1 day'), s.c0;

-- by time window of a date
SELECT window(d, '7 days').start AS week, count(*) AS n FROM r GROUP BY window(d, '7 days');

-- listagg without a separator
SELECT g, listagg(c2) WITHIN GROUP (ORDER BY c2) AS l, string_agg(DISTINCT c2) WITHIN GROUP (ORDER BY c2) AS d FROM r GROUP BY g;

-- bare time window
SELECT window, count(*) AS n FROM r GROUP BY window(ts, '1 hour');

-- having of several aggregates
SELECT g, sum(k) AS s FROM r GROUP BY g HAVING sum(k) > 1 AND count(*) > 1 OR max(c2) RLIKE 'b';

-- grouping in having
SELECT g, c2, count(*) AS n FROM r GROUP BY CUBE (g, c2) HAVING grouping(c2) = 1 AND grouping_id(g, c2) > 0;

-- groups by a map
SELECT count(*) AS n, max(k) AS k FROM r GROUP BY m;

-- ordered by a row
SELECT g, max_by(c2, (c0, k)) AS latest, min((k, c2)) AS least FROM r GROUP BY g;
-- by session
SELECT k, session_window(ts, '5 minutes') AS session, count(*) AS n FROM r GROUP BY k, session_window(ts, '5 minutes');
-- by session, its parts
SELECT g, session_window.start, session_window.end, sum(k) AS s FROM r GROUP BY g, session_window(ts, '1 hour 30 minutes') HAVING count(*) > 0;
-- by session of all rows
SELECT session_window(ts, '2 hours'), max(k) AS m FROM r GROUP BY 1;
-- by session with a gap of its own
SELECT k, session_window(ts, CASE WHEN g > 1 THEN '5 minutes' ELSE '1 minute' END) AS w, count(*) AS n FROM r GROUP BY k, session_window(ts, CASE WHEN g > 1 THEN '5 minutes' ELSE '1 minute' END);

-- having of a column that is called like its sum
SELECT g, sum(k) AS k FROM r GROUP BY g HAVING sum(k) > 1 AND k < 9;

-- having of a key behind an alias
SELECT max(k) AS g, g AS h FROM r GROUP BY g HAVING g > 1;

-- having of a name that only the result makes clear
SELECT r.g, max(s.g) AS k, sum(n) AS n FROM r JOIN s ON r.k = s.k GROUP BY r.g HAVING g > 0 AND k > 1;

-- any some every
SELECT g, any(k > 1) AS a, some(k > 2) FILTER (WHERE k < 4) AS s, every(DISTINCT k > 1) AS e FROM r GROUP BY g HAVING any(k > 0);
