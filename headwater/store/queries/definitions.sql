-- get_definition
-- One definition, as it was written.
SELECT kind, name, text, file, line, column_no, fingerprint, updated_at
FROM hw_definition
WHERE kind = :kind AND name = :name;

-- list_definitions
-- Every definition of every kind.
SELECT kind, name, text, file, line, column_no, fingerprint, updated_at
FROM hw_definition
ORDER BY kind, name;

-- list_definitions_of_kind
-- Every definition of one kind.
SELECT kind, name, text, file, line, column_no, fingerprint, updated_at
FROM hw_definition
WHERE kind = :kind
ORDER BY name;

-- put_definition
-- Add a definition, or replace the one of the same kind and name.
INSERT INTO hw_definition (kind, name, text, file, line, column_no, fingerprint, updated_at)
VALUES (:kind, :name, :text, :file, :line, :column, :fingerprint, :now)
ON CONFLICT (kind, name) DO UPDATE SET
    text = excluded.text,
    file = excluded.file,
    line = excluded.line,
    column_no = excluded.column_no,
    fingerprint = excluded.fingerprint,
    updated_at = excluded.updated_at;

-- remove_definition
-- Forget a definition.
DELETE FROM hw_definition
WHERE kind = :kind AND name = :name;
