-- get_job
-- One job by its number.
SELECT id, account, subject, name, kind, placed_by, spec, should_run, paused, scan, owner, state,
       sequence, next_at, retry, last_start, last_success, misses, error, watermark,
       registered_at, dropped_at
FROM hw_job
WHERE id = :id;

-- find_jobs
-- The jobs of a name that are not dropped.
SELECT id, account, subject, name, kind, placed_by, spec, should_run, paused, scan, owner, state,
       sequence, next_at, retry, last_start, last_success, misses, error, watermark,
       registered_at, dropped_at
FROM hw_job
WHERE name = :name AND dropped_at IS NULL
ORDER BY account, subject;

-- list_jobs
-- Every job, also dropped ones that are not cleared yet.
SELECT id, account, subject, name, kind, placed_by, spec, should_run, paused, scan, owner, state,
       sequence, next_at, retry, last_start, last_success, misses, error, watermark,
       registered_at, dropped_at
FROM hw_job
ORDER BY id;

-- list_jobs_of_owner
-- The jobs of one kind that a runner owns and that are not dropped.
SELECT id, account, subject, name, kind, placed_by, spec, should_run, paused, scan, owner, state,
       sequence, next_at, retry, last_start, last_success, misses, error, watermark,
       registered_at, dropped_at
FROM hw_job
WHERE owner = :runner AND kind = :kind AND dropped_at IS NULL
ORDER BY id;

-- count_jobs_by_state
-- How many jobs are in each state.
SELECT state, count(*)
FROM hw_job
WHERE dropped_at IS NULL
GROUP BY state;

-- forget_dropped_job
-- Make room for a job of the same name.
DELETE FROM hw_job
WHERE account = :account AND subject = :subject AND name = :name AND dropped_at IS NOT NULL
  AND owner IS NULL;

-- register_job
-- Add a job under the coordinator's term; changes nothing if it is there.
INSERT INTO hw_job (account, subject, name, kind, placed_by, spec, should_run, paused, scan, state,
                    sequence, next_at, misses, registered_at)
SELECT :account, :subject, :name, :kind, :placed_by, :spec, TRUE, FALSE, FALSE, 'completed',
       0, :next_at, 0, :now
WHERE EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder)
ON CONFLICT DO NOTHING;

-- respecify_job
-- Give a job new settings; its schedule, state and owner stay, an error is taken as repaired.
UPDATE hw_job
SET spec = :spec, placed_by = :placed_by,
    next_at = CASE WHEN :reschedule = 1 OR state = 'error' THEN :next_at ELSE next_at END,
    sequence = CASE WHEN :reschedule = 1 OR state = 'error' THEN sequence + 1 ELSE sequence END,
    retry = CASE WHEN state = 'error' THEN NULL ELSE retry END,
    error = CASE WHEN state = 'error' THEN NULL ELSE error END,
    state = CASE WHEN state = 'error' THEN 'completed' ELSE state END
WHERE id = :id AND dropped_at IS NULL
  AND EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder);

-- drop_job
-- Say that a job is over; its owner lets go of it, later the row is cleared.
UPDATE hw_job
SET dropped_at = :now
WHERE id = :id AND dropped_at IS NULL
  AND EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder);

-- assign_job
-- Make the coordinator's own runner the owner of its own job.
UPDATE hw_job
SET owner = :runner
WHERE id = :id AND (owner IS NULL OR owner <> :runner)
  AND EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder);

-- take_job
-- Become the owner of a job that has none; of several runners one does.
UPDATE hw_job
SET owner = :runner
WHERE id = :id AND owner IS NULL AND should_run AND dropped_at IS NULL
  AND EXISTS (SELECT 1 FROM hw_runner WHERE id = :runner);

-- release_job
-- Let go of a job; one that was running is ready to run again.
UPDATE hw_job
SET owner = NULL, sequence = sequence + 1,
    state = CASE WHEN state = 'running' THEN 'completed' ELSE state END
WHERE id = :id AND owner = :runner;

-- begin_run
-- Start a run, provided the job is still this owner's, as it was seen, and wanted.
UPDATE hw_job
SET state = 'running', last_start = :now, sequence = sequence + 1
WHERE id = :id AND owner = :runner AND sequence = :expected_sequence
  AND state IN ('completed', 'canceled')
  AND should_run AND NOT paused AND dropped_at IS NULL;

-- finish_run
-- End a run: state, schedule, waits and error, and nothing else.
UPDATE hw_job
SET state = :state, next_at = :next_at, retry = :retry, error = :error,
    last_success = COALESCE(:succeeded_at, last_success), misses = misses + :missed,
    scan = CASE WHEN :scanned = 1 THEN FALSE ELSE scan END,
    sequence = sequence + 1
WHERE id = :id AND owner = :runner AND sequence = :expected_sequence AND state = 'running';

-- set_next
-- Move a job's next time, for its owner or for a user; moves even a job that waits to retry.
UPDATE hw_job
SET next_at = :next_at, sequence = sequence + 1
WHERE id = :id AND sequence = :expected_sequence AND dropped_at IS NULL;

-- set_should_run
-- Say whether a job is to run at all.
UPDATE hw_job
SET should_run = :wanted
WHERE id = :id AND dropped_at IS NULL;

-- pause_job
-- Keep a job from starting; a run that is under way goes on.
UPDATE hw_job
SET paused = TRUE
WHERE id = :id AND dropped_at IS NULL;

-- resume_job
-- Let a job go on at once, also one that was stopped by an error or a cancel.
UPDATE hw_job
SET paused = FALSE, sequence = sequence + 1, retry = NULL, error = NULL,
    next_at = CASE WHEN state IN ('error', 'canceled') OR retry IS NOT NULL THEN :now ELSE next_at END,
    state = CASE WHEN state IN ('error', 'canceled') THEN 'completed' ELSE state END
WHERE id = :id AND dropped_at IS NULL AND state <> 'running';

-- unpause_running_job
-- Let a job that is running go on after this run.
UPDATE hw_job
SET paused = FALSE
WHERE id = :id AND dropped_at IS NULL AND state = 'running';

-- set_scan
-- Ask for one run over everything, or take the wish back.
UPDATE hw_job
SET scan = :wanted
WHERE id = :id AND dropped_at IS NULL;

-- flush_watermarks
-- Remember how far a runner has looked for its quiet jobs; touches nothing else, never steps back.
UPDATE hw_job
SET watermark = :watermark
WHERE owner = :runner AND kind = 'refresh' AND dropped_at IS NULL
  AND (watermark IS NULL OR watermark <= :moved_since);

-- clear_dropped_jobs
-- Forget some jobs that were dropped long enough ago and that nobody holds.
DELETE FROM hw_job
WHERE id IN (
    SELECT id
    FROM hw_job
    WHERE dropped_at < :dropped_before AND owner IS NULL
    ORDER BY id
    LIMIT :batch
);

-- free_lost_jobs
-- Take jobs away from runners that are registered no longer.
UPDATE hw_job
SET owner = NULL, sequence = sequence + 1,
    state = CASE WHEN state = 'running' THEN 'completed' ELSE state END
WHERE owner IS NOT NULL AND owner NOT IN (SELECT id FROM hw_runner)
  AND EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder);
