-- Who bought what kind of thing in all three channels.
CREATE MATERIALIZED VIEW all_channels AS
SELECT ss_customer_sk AS customer_sk, i_category
FROM store_sales JOIN item ON ss_item_sk = i_item_sk
INTERSECT
SELECT cs_customer_sk, i_category FROM catalog_sales JOIN item ON cs_item_sk = i_item_sk
INTERSECT
SELECT ws_customer_sk, i_category FROM web_sales JOIN item ON ws_item_sk = i_item_sk;
