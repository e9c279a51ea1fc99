CREATE MATERIALIZED VIEW revenue_by_country
COMMENT 'What each country has ordered'
AS
SELECT c.country, count(*) AS orders, sum(o.amount) AS revenue
FROM orders o
JOIN customers c ON c.customer_id = o.customer_id
GROUP BY c.country;
