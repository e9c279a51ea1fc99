CREATE MATERIALIZED VIEW large_orders
COMMENT 'A view on a view, filtered'
AS
SELECT order_id, total
FROM order_totals
WHERE total >= 2500;
