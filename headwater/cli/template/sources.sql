-- The tables that views may read. Paths are relative to this folder.

CREATE SOURCE customers FROM DELTA 'data/customers' KEY (customer_id);

CREATE SOURCE orders FROM DELTA 'data/orders' KEY (order_id);
