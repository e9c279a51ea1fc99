CREATE MATERIALIZED VIEW best_days
COMMENT 'Not incremental: every rank depends on every other day'
AS
SELECT ordered_on, revenue, rank() OVER (ORDER BY revenue DESC) AS place
FROM daily_revenue;
