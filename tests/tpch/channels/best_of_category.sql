-- The two best sold items of each category and year, over all channels.
CREATE MATERIALIZED VIEW best_of_category AS
SELECT i_category, d_year, i_item_sk, revenue, place
FROM (
  SELECT
    i_category,
    d_year,
    i_item_sk,
    sum(price) AS revenue,
    rank() OVER (PARTITION BY i_category, d_year ORDER BY sum(price) DESC) AS place
  FROM (
    SELECT ss_item_sk AS item_sk, ss_date_sk AS date_sk, ss_sales_price AS price FROM store_sales
    UNION ALL
    SELECT cs_item_sk, cs_date_sk, cs_sales_price FROM catalog_sales
    UNION ALL
    SELECT ws_item_sk, ws_date_sk, ws_sales_price FROM web_sales
  ) AS sales
  JOIN item ON item_sk = i_item_sk
  JOIN date_dim ON date_sk = d_date_sk
  GROUP BY i_category, d_year, i_item_sk
) AS ranked
WHERE place <= 2;
