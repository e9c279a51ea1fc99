-- Brands' months beside the month before, the month after and the year's average.
CREATE MATERIALIZED VIEW brand_months AS
WITH months AS (
  SELECT i_brand, d_year, d_month, sum(ss_sales_price) AS revenue
  FROM item
  JOIN store_sales ON ss_item_sk = i_item_sk
  JOIN date_dim ON ss_date_sk = d_date_sk
  GROUP BY i_brand, d_year, d_month
)
SELECT
  i_brand,
  d_year,
  d_month,
  revenue,
  avg(revenue) OVER (PARTITION BY i_brand, d_year) AS average,
  lag(revenue) OVER (PARTITION BY i_brand ORDER BY d_year, d_month) AS month_before,
  lead(revenue) OVER (PARTITION BY i_brand ORDER BY d_year, d_month) AS month_after
FROM months;
