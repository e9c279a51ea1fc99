-- Profit of all channels by channel, state and year, and every total of these.
CREATE MATERIALIZED VIEW channel_cube AS
SELECT channel, c_state, d_year, sum(profit) AS profit, count(*) AS sales
FROM (
  SELECT
    'store' AS channel,
    ss_customer_sk AS customer_sk,
    ss_date_sk AS date_sk,
    ss_profit AS profit
  FROM store_sales
  UNION ALL
  SELECT 'catalog', cs_customer_sk, cs_date_sk, cs_profit FROM catalog_sales
  UNION ALL
  SELECT 'web', ws_customer_sk, ws_date_sk, ws_profit FROM web_sales
) AS sales
JOIN customer ON customer_sk = c_customer_sk
JOIN date_dim ON date_sk = d_date_sk
GROUP BY CUBE (channel, c_state, d_year);
