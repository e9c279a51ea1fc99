-- The shop's tables. Paths are relative to this folder.

CREATE SOURCE customers FROM DELTA 'data/customers' KEY (customer_id);

CREATE SOURCE products FROM DELTA 'data/products' KEY (product_id);

CREATE SOURCE orders FROM DELTA 'data/orders' KEY (order_id);

CREATE SOURCE order_lines FROM DELTA 'data/order_lines' KEY (order_id, line_no);
