-- get_view
-- One view's row.
SELECT name, state, path, table_id, fingerprint, compiled, frontier, sequence,
       table_version, checked_version, created_at, updated_at
FROM hw_view
WHERE name = :name;

-- list_views
-- Every view's row.
SELECT name, state, path, table_id, fingerprint, compiled, frontier, sequence,
       table_version, checked_version, created_at, updated_at
FROM hw_view
ORDER BY name;

-- create_view
-- Add a view; one that exists already stays as it is.
INSERT INTO hw_view (name, state, path, table_id, fingerprint, compiled, frontier, sequence,
                     table_version, checked_version, created_at, updated_at)
VALUES (:name, :state, :path, :table_id, :fingerprint, :compiled, :frontier, :sequence,
        :table_version, NULL, :now, :now)
ON CONFLICT (name) DO NOTHING;

-- set_view_state
-- Move a view to another state, whatever the present one is.
UPDATE hw_view
SET state = :state, updated_at = :now
WHERE name = :name;

-- move_view_state
-- Move a view to another state, provided it is still in the expected one.
UPDATE hw_view
SET state = :state, updated_at = :now
WHERE name = :name AND state = :expected;

-- redefine_view
-- Give a view a new meaning; its content and frontier are other writers' business.
UPDATE hw_view
SET fingerprint = :fingerprint, compiled = :compiled, updated_at = :now
WHERE name = :name;

-- relocate_view
-- Point a view at another table; what was checked of the old table says nothing about the new one.
UPDATE hw_view
SET path = :path, table_id = :table_id, checked_version = NULL, updated_at = :now
WHERE name = :name;

-- advance_view
-- Follow one commit to the view's table, provided the ledger stands where the committer thought.
UPDATE hw_view
SET frontier = :frontier, sequence = :sequence, table_version = :table_version, updated_at = :now
WHERE name = :name AND sequence = :expected_sequence;

-- move_view_frontier
-- Move the frontier over versions that change nothing for the view: no commit, no sequence.
UPDATE hw_view
SET frontier = :frontier, updated_at = :now
WHERE name = :name AND frontier = :expected;

-- check_view
-- Remember that the view's table holds nothing of strangers up to a version; never steps back.
UPDATE hw_view
SET checked_version = :checked_version
WHERE name = :name
  AND sequence = :expected_sequence
  AND (checked_version IS NULL OR checked_version < :checked_version);

-- remove_view
-- Forget a view.
DELETE FROM hw_view
WHERE name = :name;
