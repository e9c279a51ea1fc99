CREATE MATERIALIZED VIEW customer_activity
COMMENT 'A left join: customers without orders are there too'
AS
SELECT c.customer_id, c.name, c.country, o.order_id, o.ordered_on, o.status
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.customer_id;
