-- casts
SELECT k::string a, CAST(c1 AS int) b, try_cast(c2 AS int) c FROM r WHERE c1 < 100;

-- operators
SELECT k DIV 2 a, k % 2 b, c2 || 'x' c, k <=> g d, ~k e, k & 1 f, c2 RLIKE '^a' h FROM r;

-- like any
SELECT k FROM r WHERE c2 LIKE ANY ('a%', 'b%') OR c2 ILIKE 'A';

-- case
SELECT CASE g WHEN 1 THEN 'one' ELSE c2 END AS x, if(k > 1, k, g) AS y, nvl(k, 0) z FROM r;

-- dates
SELECT date_add(d, 1) a, d + INTERVAL 1 DAY b, datediff(d, DATE '2024-01-01') c, date_trunc('MONTH', ts) e, year(d) f, trunc(d, 'MM') h FROM r;

-- timestamps
SELECT ts - INTERVAL '1' HOUR a, TIMESTAMP '2024-01-01 00:00:00' b, extract(HOUR FROM ts) c, ts::date e FROM r;

-- date_diff unit
SELECT timestampdiff(DAY, ts, ts + INTERVAL 2 DAYS) a, date_part('year', d) b FROM r;

-- struct field
SELECT st.a, r.st.b AS b2 FROM r WHERE st.a > 0;

-- array element
SELECT arr[0] a, element_at(arr, 1) b, size(arr) c FROM r WHERE size(arr) > 0;

-- higher order
SELECT transform(arr, x -> x + k) a, filter(arr, x -> x > 1) b, aggregate(arr, 0, (a, x) -> a + x) c, exists(arr, x -> x = 1) e FROM r;

-- nested
SELECT named_struct('k', k, 'g', g) a, array(k, g) b, struct(k, c2) c FROM r;

-- strings
SELECT upper(c2) a, substring(c2, 1, 1) b, regexp_replace(c2, 'a', 'b') c, split(c2, ',')[0] e, trim(c2) f, format_string('%s-%d', c2, k) h FROM r;

-- json
SELECT get_json_object(c0, '$.a') a, from_json(c0, 'a INT').a b FROM s;

-- variant
SELECT k, variant_get(try_parse_json(c0), '$.a', 'int') a FROM s;

-- collate
SELECT k FROM r WHERE c2 COLLATE UTF8_LCASE = 'A';

-- clock
SELECT k, d FROM r WHERE d < current_date();

-- clock in select
SELECT k, now() > ts AS past FROM r;

-- between
SELECT k FROM r WHERE k BETWEEN 1 AND 2 AND g NOT BETWEEN 5 AND 6 AND c2 NOT LIKE 'z%';

-- null tests
SELECT k FROM r WHERE k IS NOT DISTINCT FROM g OR c2 IS NULL OR NOT (k = 1);

-- coalesce
SELECT coalesce(c2, 'none') a, nullif(k, 1) b, greatest(k, g) c, round(c0, 1) e, c0 / 3 f FROM r;

-- bits and pieces
SELECT hash(k) a, md5(c2) b, xxhash64(k, g) c, hex(k) e, typeof(k) f FROM r;

-- unknown function
SELECT my_own(k) AS x FROM r;

-- interval column
SELECT ts - ts AS x FROM r;

-- map
SELECT map(c2, k) AS m FROM r WHERE c2 IS NOT NULL;

-- map element
SELECT k, m['a'] AS a, element_at(m, 'b') AS b FROM r WHERE size(m) > 1;

-- group by map element
SELECT m['b'] AS b, count(*) AS n FROM r GROUP BY m['b'];

-- explode of a map
SELECT k, key, value FROM r LATERAL VIEW explode(m) e AS key, value;

-- map through a join
SELECT x.k, x.m['a'] AS a FROM (SELECT k, g, m FROM r) x LEFT JOIN s ON x.g = s.g;

-- star in a function
SELECT hash(*) AS h, count(*) OVER (PARTITION BY k) AS n FROM t;

-- struct of columns
SELECT k, struct(k, t.v, w AS x, k + 1) AS s FROM t;

-- json of columns
SELECT k, to_json(struct(k, w)) AS j FROM t;

-- json of a tuple
SELECT k, to_json((k, w)) AS j FROM t WHERE (k, v) IN ((1, 2), (2, 3)) AND (k, v) <> (9, 9);

-- variant path
SELECT k, v:a::int AS a, v:b[0].c::string AS c FROM (SELECT k, try_parse_json(c0) AS v FROM s) q;

-- interval of several units
SELECT k, ts + interval 1 day 2 hours AS later FROM r WHERE k > 0;

-- a column called all
SELECT `all`, count(*) AS n FROM (SELECT g AS `all`, k FROM r) q GROUP BY all;

-- columns called as clauses
SELECT offset, window, count(*) AS n FROM (SELECT g AS offset, k AS window FROM r) q GROUP BY offset, window;

-- zero with a sign
SELECT k, CAST(c1 AS STRING) AS written, CAST(top AS STRING) AS highest FROM (SELECT k, c1, max(c1) OVER (PARTITION BY k, c1 ORDER BY c2) AS top FROM r);

-- the order of a map
SELECT k, map_keys(m) AS ks, to_json(m) AS j, n FROM (SELECT k, m, count(*) OVER (PARTITION BY k) AS n FROM r);

-- fields of one name
SELECT k, arrays_zip(arr, arr) AS z FROM r;
-- struct of a star
SELECT k, to_json(struct(*)) AS j, xxhash64(s.* EXCEPT (f)) AS h FROM s WHERE hash(*) <> 0;
-- variant inside
SELECT k, v:a::int AS a, row_number() OVER (PARTITION BY k ORDER BY g) AS r FROM (SELECT k, g, try_parse_json(c0) AS v FROM s);

-- field of an earlier alias
SELECT k, from_json(c0, 'a INT, b STRING') AS j, j.a AS a, j.a + 1 AS next FROM s;

-- star over an alias of from_json
SELECT k, j.* FROM (SELECT k, from_json(c0, 'STRUCT<a: INT>') AS j FROM s);

-- field of an alias of a map
SELECT k, m AS other, other.a AS a FROM r;
