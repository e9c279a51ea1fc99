-- get_runner
-- One runner's row.
SELECT id, address, state, beat, slots, running, registered_at, reported_at
FROM hw_runner
WHERE id = :id;

-- list_runners
-- Every registered runner.
SELECT id, address, state, beat, slots, running, registered_at, reported_at
FROM hw_runner
ORDER BY address;

-- find_runner_at
-- Who is registered at an address.
SELECT id
FROM hw_runner
WHERE address = :address;

-- register_runner
-- Add a runner; changes nothing if its address is taken.
INSERT INTO hw_runner (id, address, state, beat, slots, running, registered_at, reported_at)
VALUES (:id, :address, 'active', 1, :slots, 0, :now, :now)
ON CONFLICT DO NOTHING;

-- report_runner
-- Show that a runner lives; touches nothing once its row is gone.
UPDATE hw_runner
SET beat = beat + 1, running = :running, slots = :slots, reported_at = :now
WHERE id = :id;

-- set_runner_state
-- Let a runner drain, or take part again.
UPDATE hw_runner
SET state = :state
WHERE id = :id AND state = :expected;

-- remove_runner
-- Forget a runner that left or whose address somebody else has now.
DELETE FROM hw_runner
WHERE id = :id;

-- remove_silent_runner
-- Forget a runner as the coordinator saw it, provided it has not reported since.
DELETE FROM hw_runner
WHERE id = :id AND beat = :beat
  AND EXISTS (SELECT 1 FROM hw_lease
              WHERE name = 'coordinator' AND term = :term AND holder = :holder);

-- free_jobs_of_runner
-- Take all jobs away from a runner; one that it was running is ready to run again.
UPDATE hw_job
SET owner = NULL, sequence = sequence + 1,
    state = CASE WHEN state = 'running' THEN 'completed' ELSE state END
WHERE owner = :id;

-- drop_commands_of_runner
-- Forget what a runner was still asked to do.
DELETE FROM hw_command
WHERE runner = :id AND ended_at IS NULL;
