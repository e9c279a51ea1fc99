-- What shops took, less what was brought back, by item and year.
CREATE MATERIALIZED VIEW kept_revenue AS
SELECT
  d_year,
  i_item_sk,
  i_category,
  sum(ss_quantity - coalesce(sr_quantity, 0)) AS kept,
  sum(ss_sales_price - coalesce(sr_amount, 0.0)) AS revenue
FROM store_sales
LEFT JOIN store_returns ON ss_ticket = sr_ticket AND ss_item_sk = sr_item_sk
JOIN item ON ss_item_sk = i_item_sk
JOIN date_dim ON ss_date_sk = d_date_sk
GROUP BY d_year, i_item_sk, i_category;
