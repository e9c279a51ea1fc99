-- inner
SELECT r.k, s.c0 FROM r JOIN s ON r.g = s.g;

-- comma
SELECT r.k, s.c0 FROM r, s WHERE r.g = s.g;

-- theta
SELECT r.k, s.k AS sk FROM r JOIN s ON r.k < s.k AND r.g = s.g;

-- cross
SELECT r.k, s.k AS sk FROM r CROSS JOIN s;

-- left
SELECT r.k, s.c0 FROM r LEFT OUTER JOIN s ON r.g = s.g AND s.k > 1;

-- right
SELECT r.k, s.c0 FROM r RIGHT JOIN s ON r.g = s.g;

-- full
SELECT r.k, s.k AS sk FROM r FULL OUTER JOIN s ON r.g = s.g;

-- full theta
SELECT r.k, s.k AS sk FROM r FULL OUTER JOIN s ON r.g < s.g;

-- semi
SELECT r.k FROM r LEFT SEMI JOIN s ON r.g = s.g;

-- bare semi
SELECT r.k FROM r SEMI JOIN s ON r.g = s.g;

-- anti
SELECT r.k FROM r LEFT ANTI JOIN s ON r.g = s.g;

-- natural
SELECT * FROM s NATURAL JOIN t;

-- natural left
SELECT k, g, v FROM s NATURAL LEFT JOIN t;

-- using
SELECT k, r.g, v FROM r JOIN t USING (k);

-- using full
SELECT k, g, v FROM s FULL JOIN t USING (k);

-- star of the side that loses its column
SELECT s.* FROM r JOIN s USING (g);

-- stars of both sides of a full using
SELECT s.k, xxhash64(r.c2, s.*) AS h FROM r FULL JOIN s USING (g, k);

-- star of a side in two usings
SELECT u.*, t.v FROM r JOIN s AS u USING (g, k) RIGHT JOIN t USING (k);

-- using star
SELECT * FROM s LEFT JOIN t USING (k);

-- self
SELECT a.k, b.k AS bk FROM s a JOIN s b ON a.g = b.k;

-- three
SELECT r.k, s.c0, t.w FROM r JOIN s ON r.g = s.g LEFT JOIN t ON s.k = t.k;

-- null safe
SELECT r.k, s.c0 FROM r JOIN s ON r.g <=> s.g;

-- parenthesised
SELECT r.k, t.v FROM r LEFT JOIN (s JOIN t ON s.k = t.k) ON r.g = s.g;

-- or condition
SELECT r.k, s.k AS sk FROM r LEFT JOIN s ON r.g = s.g OR r.k = s.k;

-- hinted
SELECT /*+ BROADCAST(s) */ r.k, s.c0 FROM r JOIN s ON r.g = s.g;

-- exists in on
SELECT r.k, s.k AS sk FROM r JOIN s ON r.g = s.g AND EXISTS (SELECT 1 FROM t WHERE t.k = s.k);

-- in in on of left join
SELECT r.k, s.k AS sk FROM r LEFT JOIN s ON r.g = s.g AND s.k IN (SELECT k FROM t);

-- comma then join
SELECT r.k, s.k AS sk, t.v FROM r, s LEFT JOIN t ON r.k = t.k WHERE r.g = s.g;

-- join without condition
SELECT r.k, s.k AS sk FROM r JOIN s WHERE r.g = s.g;
