-- Items that sold at least a tenth less than the year before, all channels.
CREATE MATERIALIZED VIEW year_over_year AS
WITH years AS (
  SELECT d_year, i_brand, i_item_sk, sum(quantity) AS quantity
  FROM (
    SELECT d_year, ss_item_sk AS item_sk, ss_quantity - coalesce(sr_quantity, 0) AS quantity
    FROM store_sales
    JOIN date_dim ON ss_date_sk = d_date_sk
    LEFT JOIN store_returns ON ss_ticket = sr_ticket AND ss_item_sk = sr_item_sk
    UNION ALL
    SELECT d_year, ws_item_sk, ws_quantity - coalesce(wr_quantity, 0)
    FROM web_sales
    JOIN date_dim ON ws_date_sk = d_date_sk
    LEFT JOIN web_returns ON ws_order = wr_order AND ws_item_sk = wr_item_sk
  ) AS sold
  JOIN item ON item_sk = i_item_sk
  GROUP BY d_year, i_brand, i_item_sk
)
SELECT b.i_brand, b.i_item_sk, b.d_year, a.quantity AS quantity_before, b.quantity AS quantity_after
FROM years a
JOIN years b ON a.i_item_sk = b.i_item_sk AND b.d_year = a.d_year + 1
WHERE b.quantity < 0.9 * a.quantity;
