CREATE MATERIALIZED VIEW price_ranges
COMMENT 'Minimum, maximum and an average of floating-point numbers, which no sum can be kept of'
AS
SELECT p.category, min(l.unit_price) AS cheapest, max(l.unit_price) AS dearest,
       avg(l.discount) AS mean_discount
FROM order_lines l
JOIN products p ON p.product_id = l.product_id
GROUP BY p.category;
