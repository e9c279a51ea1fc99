-- list_statements
-- All statements in the order in which they apply.
SELECT statement_no, text
FROM hw_statement
ORDER BY statement_no;

-- put_statement
-- Add a statement, or replace the one of the same number.
INSERT INTO hw_statement (statement_no, text)
VALUES (:statement_no, :text)
ON CONFLICT (statement_no) DO UPDATE SET text = excluded.text;

-- remove_statement
-- Forget a statement.
DELETE FROM hw_statement
WHERE statement_no = :statement_no;
