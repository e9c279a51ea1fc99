-- Orders on the web of which nothing came back.
CREATE MATERIALIZED VIEW never_returned AS
SELECT d_year, count(DISTINCT ws_order) AS orders, sum(ws_profit) AS profit
FROM web_sales
JOIN date_dim ON ws_date_sk = d_date_sk
WHERE NOT EXISTS (SELECT * FROM web_returns WHERE wr_order = ws_order)
GROUP BY d_year;
