-- How many of a state buy in shops alone.
CREATE MATERIALIZED VIEW shops_only AS
SELECT c_state, count(*) AS customers
FROM (
  SELECT ss_customer_sk AS customer_sk FROM store_sales
  EXCEPT
  SELECT cs_customer_sk FROM catalog_sales
  EXCEPT
  SELECT ws_customer_sk FROM web_sales
) AS loyal
JOIN customer ON customer_sk = c_customer_sk
GROUP BY c_state;
