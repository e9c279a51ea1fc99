CREATE MATERIALIZED VIEW order_totals
COMMENT 'An aggregate with as many rows as there are orders'
AS
SELECT l.order_id, sum(l.quantity) AS pieces, sum(l.quantity * l.unit_price) AS total
FROM order_lines l
GROUP BY l.order_id;
