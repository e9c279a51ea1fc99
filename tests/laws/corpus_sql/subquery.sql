-- scalar in select
SELECT k, (SELECT max(v) FROM t) AS m FROM r;

-- scalar in where
SELECT k FROM r WHERE g > (SELECT avg(v) FROM t);

-- scalar in having
SELECT g, sum(k) AS t FROM r GROUP BY g HAVING sum(k) > (SELECT min(v) FROM t);

-- scalar in case
SELECT k, CASE WHEN g > (SELECT min(k) FROM s) THEN 1 ELSE 0 END AS c FROM r;

-- scalar in aggregate
SELECT g, sum(k - (SELECT min(v) FROM t)) AS x FROM r GROUP BY g;

-- scalar of one row
SELECT k, (SELECT v FROM t ORDER BY k, v, w LIMIT 1) AS m FROM r;

-- scalar of nothing
SELECT k, (SELECT max(v) FROM t HAVING max(v) > 100) AS m FROM r;

-- scalar beside group
SELECT g, count(*) AS n, (SELECT max(v) FROM t) AS m FROM r GROUP BY g;

-- scalar beside global
SELECT count(*) AS n, (SELECT max(v) FROM t) AS m FROM r;

-- scalar in group key
SELECT k > (SELECT avg(v) FROM t) AS big, count(*) AS n FROM r GROUP BY 1;

-- scalar in order
SELECT k, g FROM s ORDER BY abs(k - (SELECT max(v) FROM t)), k, g, c0, n LIMIT 3;

-- correlated scalar
SELECT k, (SELECT max(s.n) FROM s WHERE s.g = r.g) AS m FROM r;

-- correlated count
SELECT k, (SELECT count(*) FROM s WHERE s.g = r.g) AS m FROM r;

-- correlated count with sum
SELECT k, (SELECT count(s.c0) + coalesce(sum(s.n), -1) FROM s WHERE s.g = r.g) AS m FROM r;

-- correlated theta
SELECT k, (SELECT count(*) FROM s WHERE s.g < r.g) AS m FROM r;

-- correlated in where
SELECT k FROM r WHERE k > (SELECT avg(s.k) FROM s WHERE s.g = r.g);

-- correlated with itself
SELECT k, g FROM s a WHERE k = (SELECT max(b.k) FROM s b WHERE b.g = a.g);

-- correlated as group key
SELECT g, count(*) AS n, (SELECT max(s.k) FROM s WHERE s.g = r.g) AS m FROM r GROUP BY g, 3;

-- correlated in having
SELECT g, count(*) AS n FROM r GROUP BY g HAVING count(*) > (SELECT count(*) FROM s WHERE s.g = r.g);

-- correlated and grouped
SELECT k, (SELECT sum(s.n) FROM s WHERE s.g = r.g AND s.k = 2 GROUP BY s.k) AS m FROM r;

-- correlated two levels
SELECT k, (SELECT max(s.k) FROM s WHERE s.g = r.g AND s.k > (SELECT min(t.v) FROM t WHERE t.k = s.k)) AS m FROM r;

-- correlated over join
SELECT k, (SELECT sum(t.v) FROM s JOIN t ON s.k = t.k WHERE s.g = r.g) AS m FROM r;

-- correlated over derived
SELECT k, (SELECT max(x) FROM (SELECT g, k + 1 AS x FROM s) z WHERE z.g = r.g) AS m FROM r;

-- in
SELECT k FROM r WHERE g IN (SELECT g FROM s);

-- in grouped
SELECT k FROM r WHERE g IN (SELECT g FROM s GROUP BY g HAVING count(*) > 1);

-- in limited
SELECT k FROM r WHERE g IN (SELECT g FROM s ORDER BY g, k LIMIT 2);

-- in union
SELECT k FROM r WHERE g IN (SELECT g FROM s UNION SELECT v FROM t);

-- in aggregate
SELECT k FROM r WHERE g IN (SELECT max(g) FROM s);

-- in correlated
SELECT k FROM r WHERE k IN (SELECT s.k FROM s WHERE s.g = r.g);

-- tuple in
SELECT k FROM r WHERE (k, g) IN (SELECT k, g FROM s);

-- not in
SELECT k FROM r WHERE g NOT IN (SELECT g FROM s);

-- not in without nulls
SELECT k FROM r WHERE g NOT IN (SELECT g FROM s WHERE g IS NOT NULL);

-- not in correlated
SELECT k FROM r WHERE k NOT IN (SELECT s.k FROM s WHERE s.g = r.g);

-- tuple not in
SELECT k FROM r WHERE (k, g) NOT IN (SELECT k, g FROM s);

-- in or
SELECT k FROM r WHERE g IN (SELECT g FROM s) OR k = 1;

-- not in or
SELECT k FROM r WHERE g NOT IN (SELECT g FROM s) OR k = 1;

-- exists or exists
SELECT k FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.g = r.g) OR EXISTS (SELECT 1 FROM t WHERE t.k = r.k);

-- exists
SELECT k FROM r WHERE EXISTS (SELECT * FROM s WHERE s.g = r.g AND s.k > 1);

-- exists uncorrelated
SELECT k FROM r WHERE EXISTS (SELECT 1 FROM t WHERE v > 2);

-- exists grouped
SELECT k FROM r WHERE EXISTS (SELECT s.k FROM s WHERE s.g = r.g GROUP BY s.k HAVING count(*) > 1);

-- exists theta
SELECT k FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.g > r.g);

-- exists union
SELECT k FROM r WHERE EXISTS (SELECT g FROM s WHERE s.g > 1 UNION ALL SELECT v FROM t);

-- not exists
SELECT k FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.g = r.g);

-- not exists not exists
SELECT k FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.g = r.g AND NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k));

-- exists in select
SELECT k, EXISTS (SELECT 1 FROM s WHERE s.g = r.g) AS e FROM r;

-- in in select
SELECT k, g IN (SELECT g FROM s) AS e FROM r;

-- in in case
SELECT k, CASE WHEN g IN (SELECT v FROM t) THEN 'y' ELSE 'n' END AS e FROM r;

-- in in aggregate
SELECT g, count(CASE WHEN k IN (SELECT v FROM t) THEN 1 END) AS n FROM r GROUP BY g;

-- in in having
SELECT g, count(*) AS n FROM r GROUP BY g HAVING g IN (SELECT v FROM t);

-- subquery over cte
WITH x AS (SELECT g, max(k) m FROM s GROUP BY g) SELECT k FROM r WHERE k > (SELECT avg(m) FROM x);

-- same text on both sides of a union
SELECT k, (SELECT count(*) FROM t WHERE t.k = x.k) AS n FROM r x UNION ALL SELECT k, (SELECT count(*) FROM t WHERE t.k = x.k) AS n FROM s x;

-- same text in where and select
SELECT k, (SELECT max(v) FROM t WHERE t.k = r.k) AS m FROM r WHERE (SELECT max(v) FROM t WHERE t.k = r.k) > 1;
