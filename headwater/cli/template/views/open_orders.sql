CREATE MATERIALIZED VIEW open_orders
COMMENT 'Orders that still have to be shipped'
AS
SELECT o.order_id, o.ordered_on, o.amount, c.name, c.country
FROM orders o
LEFT JOIN customers c ON c.customer_id = o.customer_id
WHERE o.status = 'open';
