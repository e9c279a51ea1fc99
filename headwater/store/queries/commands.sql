-- create_command
-- Ask a runner for something, provided the term holds and it is not already being asked.
INSERT INTO hw_command (runner, kind, job, term, state, created_at)
SELECT :runner, :kind, :job, :term, 'CREATED', :now
WHERE EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder)
  AND EXISTS (SELECT 1 FROM hw_runner WHERE id = :runner)
ON CONFLICT DO NOTHING;

-- take_commands
-- Mark what a runner is about to carry out; what it took before and never ended comes again.
UPDATE hw_command
SET state = 'TAKEN', taken_at = COALESCE(taken_at, :now)
WHERE runner = :runner AND ended_at IS NULL
RETURNING id, runner, kind, job, term, state, detail, created_at, taken_at, ended_at;

-- end_command
-- Close a command that was taken.
UPDATE hw_command
SET state = :state, detail = :detail, ended_at = :now
WHERE id = :id AND state = 'TAKEN';

-- withdraw_command
-- Close a command that nobody has seen and that is not wanted any more.
UPDATE hw_command
SET state = 'ERROR', detail = :detail, ended_at = :now
WHERE id = :id AND state = 'CREATED'
  AND EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder);

-- list_pending_commands
-- Everything that runners are still asked for.
SELECT id, runner, kind, job, term, state, detail, created_at, taken_at, ended_at
FROM hw_command
WHERE ended_at IS NULL
ORDER BY id;

-- list_failed_commands
-- What failed since a moment, for the waits before the next try.
SELECT id, runner, kind, job, term, state, detail, created_at, taken_at, ended_at
FROM hw_command
WHERE ended_at >= :since AND state = 'ERROR' AND taken_at IS NOT NULL
ORDER BY id;

-- list_commands_of_job
-- The newest commands about a job.
SELECT id, runner, kind, job, term, state, detail, created_at, taken_at, ended_at
FROM hw_command
WHERE job = :job
ORDER BY id DESC
LIMIT :limit;

-- count_ended_commands
-- How long the history of commands is.
SELECT count(*)
FROM hw_command
WHERE ended_at IS NOT NULL;

-- trim_old_commands
-- Drop some commands that ended too long ago.
DELETE FROM hw_command
WHERE id IN (SELECT id FROM hw_command WHERE ended_at < :ended_before ORDER BY id LIMIT :batch);

-- trim_surplus_commands
-- Drop some ended commands because there are too many, oldest first.
DELETE FROM hw_command
WHERE id IN (SELECT id FROM hw_command WHERE ended_at IS NOT NULL ORDER BY id LIMIT :batch);
