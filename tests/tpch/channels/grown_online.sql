-- Customers who spent more on the web from year to year, but less in shops.
CREATE MATERIALIZED VIEW grown_online AS
WITH totals AS (
  SELECT 'store' AS channel, ss_customer_sk AS customer_sk, d_year, sum(ss_sales_price) AS spent
  FROM store_sales JOIN date_dim ON ss_date_sk = d_date_sk
  GROUP BY ss_customer_sk, d_year
  UNION ALL
  SELECT 'web', ws_customer_sk, d_year, sum(ws_sales_price)
  FROM web_sales JOIN date_dim ON ws_date_sk = d_date_sk
  GROUP BY ws_customer_sk, d_year
)
SELECT c_customer_sk, c_state, w1.spent AS web_before, w2.spent AS web_after
FROM customer
JOIN totals w1 ON w1.customer_sk = c_customer_sk
JOIN totals w2 ON w2.customer_sk = c_customer_sk
JOIN totals s1 ON s1.customer_sk = c_customer_sk
JOIN totals s2 ON s2.customer_sk = c_customer_sk
WHERE w1.channel = 'web' AND w1.d_year = 2022
  AND w2.channel = 'web' AND w2.d_year = 2023
  AND s1.channel = 'store' AND s1.d_year = 2022
  AND s2.channel = 'store' AND s2.d_year = 2023
  AND w2.spent > w1.spent
  AND s2.spent < s1.spent;
