-- How many customers carried home a basket of two or more, by its size.
CREATE MATERIALIZED VIEW basket_sizes AS
SELECT size, count(*) AS baskets, count(DISTINCT customer_sk) AS customers
FROM (
  SELECT ss_ticket, ss_customer_sk AS customer_sk, count(*) AS size
  FROM store_sales
  GROUP BY ss_ticket, ss_customer_sk
  HAVING count(*) > 1
) AS baskets
GROUP BY size;
