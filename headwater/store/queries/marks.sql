-- list_marks
-- How often each kind of thing has changed.
SELECT name, value
FROM hw_mark;

-- bump_mark
-- Note that something of a kind has changed.
INSERT INTO hw_mark (name, value)
VALUES (:name, 1)
ON CONFLICT (name) DO UPDATE SET value = hw_mark.value + 1;
