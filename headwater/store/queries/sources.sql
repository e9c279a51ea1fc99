-- get_source
-- What is known of one source.
SELECT name, path, table_id, seen_version, facts, updated_at
FROM hw_source
WHERE name = :name;

-- list_sources
-- What is known of every source.
SELECT name, path, table_id, seen_version, facts, updated_at
FROM hw_source
ORDER BY name;

-- put_source
-- Write down where a source was found and what it is, replacing what was known.
INSERT INTO hw_source (name, path, table_id, seen_version, facts, updated_at)
VALUES (:name, :path, :table_id, :seen_version, :facts, :now)
ON CONFLICT (name) DO UPDATE SET
    path = excluded.path,
    table_id = excluded.table_id,
    seen_version = excluded.seen_version,
    facts = excluded.facts,
    updated_at = excluded.updated_at;

-- see_source
-- Move the last seen version of the same physical table forward; never back, and nothing else.
UPDATE hw_source
SET seen_version = :seen_version
WHERE name = :name
  AND table_id = :table_id
  AND (seen_version IS NULL OR seen_version < :seen_version);

-- remove_source
-- Forget a source.
DELETE FROM hw_source
WHERE name = :name;
