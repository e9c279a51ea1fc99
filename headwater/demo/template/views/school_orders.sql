CREATE MATERIALIZED VIEW school_orders
COMMENT 'A left join: schools without orders are there too'
AS
SELECT c.customer_id, c.name, c.country, o.order_id, o.ordered_on, o.status
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.customer_id
WHERE c.segment = 'school';
