CREATE MATERIALIZED VIEW open_lines
COMMENT 'What still has to be shipped: a three-way join, filtered and projected'
AS
SELECT l.order_id, l.line_no, o.ordered_on, p.title, upper(p.category) AS category, l.quantity
FROM order_lines l
JOIN orders o ON o.order_id = l.order_id
JOIN products p ON p.product_id = l.product_id
WHERE o.status = 'open';
