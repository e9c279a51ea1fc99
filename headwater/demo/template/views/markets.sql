CREATE MATERIALIZED VIEW markets
COMMENT 'Which segment buys in which country: each pair once'
AS
SELECT DISTINCT c.country, c.segment
FROM customers c
JOIN orders o ON o.customer_id = c.customer_id;
