CREATE MATERIALIZED VIEW daily_revenue
COMMENT 'A join and an aggregate'
AS
SELECT o.ordered_on, count(*) AS lines_sold, sum(l.quantity * l.unit_price) AS revenue
FROM orders o
JOIN order_lines l ON l.order_id = o.order_id
WHERE o.status <> 'canceled'
GROUP BY o.ordered_on;
