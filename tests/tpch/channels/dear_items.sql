-- Sales by state of items dearer than others of their category.
CREATE MATERIALIZED VIEW dear_items AS
SELECT c_state, count(*) AS sales, sum(ws_sales_price) AS revenue
FROM web_sales
JOIN customer ON ws_customer_sk = c_customer_sk
JOIN item i ON ws_item_sk = i.i_item_sk
WHERE i.i_price > 1.1 * (
  SELECT avg(j.i_price) FROM item j WHERE j.i_category = i.i_category
)
GROUP BY c_state
HAVING count(*) >= 2;
