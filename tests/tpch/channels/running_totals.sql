-- Days on which an item's sales on the web so far exceed those in shops.
CREATE MATERIALIZED VIEW running_totals AS
WITH web AS (
  SELECT ws_item_sk, d_date, sum(sum(ws_sales_price)) OVER (
    PARTITION BY ws_item_sk ORDER BY d_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS total
  FROM web_sales JOIN date_dim ON ws_date_sk = d_date_sk
  GROUP BY ws_item_sk, d_date
),
shops AS (
  SELECT ss_item_sk, d_date, sum(sum(ss_sales_price)) OVER (
    PARTITION BY ss_item_sk ORDER BY d_date ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS total
  FROM store_sales JOIN date_dim ON ss_date_sk = d_date_sk
  GROUP BY ss_item_sk, d_date
)
SELECT
  coalesce(web.ws_item_sk, shops.ss_item_sk) AS item_sk,
  coalesce(web.d_date, shops.d_date) AS d_date,
  web.total AS web_total,
  shops.total AS shop_total
FROM web
FULL OUTER JOIN shops ON web.ws_item_sk = shops.ss_item_sk AND web.d_date = shops.d_date
WHERE coalesce(web.total, 0) > coalesce(shops.total, 0);
