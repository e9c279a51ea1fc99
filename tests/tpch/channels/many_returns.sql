-- Customers who bring back more than a fifth above their shop's average.
CREATE MATERIALIZED VIEW many_returns AS
WITH returned AS (
  SELECT sr_customer_sk, sr_store_sk, sum(sr_amount) AS amount
  FROM store_returns
  GROUP BY sr_customer_sk, sr_store_sk
)
SELECT c_customer_sk, c_state, r1.sr_store_sk, r1.amount
FROM returned r1
JOIN customer ON r1.sr_customer_sk = c_customer_sk
WHERE r1.amount > (
  SELECT avg(amount) * 1.2
  FROM returned r2
  WHERE r1.sr_store_sk = r2.sr_store_sk
);
