CREATE MATERIALIZED VIEW large_markets
COMMENT 'A view on a view: countries with at least 500.00 of revenue'
AS
SELECT country, revenue
FROM revenue_by_country
WHERE revenue >= 500;
