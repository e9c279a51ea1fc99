-- Sales in shops by category and brand, with totals and one grand total.
CREATE MATERIALIZED VIEW category_rollup AS
SELECT
  i_category,
  i_brand,
  grouping_id(i_category, i_brand) AS level,
  sum(ss_quantity) AS quantity,
  sum(ss_sales_price) AS revenue,
  count(DISTINCT ss_customer_sk) AS customers
FROM store_sales
JOIN item ON ss_item_sk = i_item_sk
GROUP BY ROLLUP (i_category, i_brand);
