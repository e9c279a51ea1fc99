-- get_attempt
-- One attempt's history row.
SELECT id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
       delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
       frontier_before, frontier_after, reasons, profile, forecast, concurrency, error,
       cancel_requested_by, cancel_requested_at
FROM hw_attempt
WHERE id = :id;

-- list_attempts
-- The newest attempts, continued before a given one.
SELECT id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
       delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
       frontier_before, frontier_after, reasons, profile, forecast, concurrency, error,
       cancel_requested_by, cancel_requested_at
FROM hw_attempt
WHERE (started_at, id) < (:before_at, :before_id)
ORDER BY started_at DESC, id DESC
LIMIT :limit;

-- list_attempts_of_view
-- The newest attempts of one view, continued before a given one.
SELECT id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
       delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
       frontier_before, frontier_after, reasons, profile, forecast, concurrency, error,
       cancel_requested_by, cancel_requested_at
FROM hw_attempt
WHERE view = :view AND (started_at, id) < (:before_at, :before_id)
ORDER BY started_at DESC, id DESC
LIMIT :limit;

-- list_attempts_in_state
-- The newest attempts in one state, continued before a given one.
SELECT id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
       delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
       frontier_before, frontier_after, reasons, profile, forecast, concurrency, error,
       cancel_requested_by, cancel_requested_at
FROM hw_attempt
WHERE state = :state AND (started_at, id) < (:before_at, :before_id)
ORDER BY started_at DESC, id DESC
LIMIT :limit;

-- list_attempts_of_view_in_state
-- The newest attempts of one view in one state, continued before a given one.
SELECT id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
       delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
       frontier_before, frontier_after, reasons, profile, forecast, concurrency, error,
       cancel_requested_by, cancel_requested_at
FROM hw_attempt
WHERE view = :view AND state = :state AND (started_at, id) < (:before_at, :before_id)
ORDER BY started_at DESC, id DESC
LIMIT :limit;

-- list_attempts_measured
-- The newest refreshes that had a forecast and did something, without their profiles.
SELECT id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
       delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
       frontier_before, frontier_after, reasons, '[]', forecast, concurrency, error,
       cancel_requested_by, cancel_requested_at
FROM hw_attempt
WHERE state = 'succeeded' AND technique <> 'skip' AND forecast <> '{}'
ORDER BY started_at DESC, id DESC
LIMIT :limit;

-- list_attempts_measured_of_view
-- The newest refreshes of one view that had a forecast and did something, without their profiles.
SELECT id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
       delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
       frontier_before, frontier_after, reasons, '[]', forecast, concurrency, error,
       cancel_requested_by, cancel_requested_at
FROM hw_attempt
WHERE view = :view AND state = 'succeeded' AND technique <> 'skip' AND forecast <> '{}'
ORDER BY started_at DESC, id DESC
LIMIT :limit;

-- start_attempt
-- Open the history row of an attempt that begins now.
INSERT INTO hw_attempt (id, view, job, manual, state, started_at, heartbeat_at, delay_seconds,
                        frontier_before, reasons, profile, forecast)
VALUES (:id, :view, :job, :manual, 'running', :started_at, :started_at, :delay_seconds,
        :frontier_before, '[]', '[]', '{}')
ON CONFLICT (id) DO NOTHING;

-- record_attempt
-- Write an attempt that succeeded already, whole, in one go.
INSERT INTO hw_attempt (id, view, job, manual, state, technique, started_at, ended_at, heartbeat_at,
                        delay_seconds, seconds, rows_inserted, rows_deleted, sequence, table_version,
                        frontier_before, frontier_after, reasons, profile, forecast,
                        concurrency)
VALUES (:id, :view, :job, :manual, 'succeeded', :technique, :started_at, :ended_at, :ended_at,
        :delay_seconds, :seconds, :rows_inserted, :rows_deleted, :sequence, :table_version,
        :frontier_before, :frontier_after, :reasons, :profile, :forecast, :concurrency)
ON CONFLICT (id) DO NOTHING;

-- beat_attempt
-- Show that a running attempt is alive.
UPDATE hw_attempt
SET heartbeat_at = :now
WHERE id = :id AND state = 'running';

-- set_attempt_technique
-- Note the technique a running attempt has settled on.
UPDATE hw_attempt
SET technique = :technique
WHERE id = :id AND state = 'running';

-- finish_attempt
-- Close a running attempt that has a receipt.
UPDATE hw_attempt
SET state = :state, ended_at = :ended_at, technique = :technique, seconds = :seconds,
    rows_inserted = :rows_inserted, rows_deleted = :rows_deleted, sequence = :sequence,
    table_version = :table_version, frontier_after = :frontier_after, reasons = :reasons,
    profile = :profile, forecast = :forecast, concurrency = :concurrency, error = :error
WHERE id = :id AND state = 'running';

-- end_attempt
-- Close a running attempt that has nothing to show; its technique stays.
UPDATE hw_attempt
SET state = :state, ended_at = :ended_at, error = :error
WHERE id = :id AND state = 'running';

-- request_cancel
-- Ask a running attempt to stop; the first request is the one that is remembered.
UPDATE hw_attempt
SET cancel_requested_by = COALESCE(cancel_requested_by, :by),
    cancel_requested_at = COALESCE(cancel_requested_at, :now)
WHERE id = :id AND state = 'running';

-- get_cancel_request
-- Whether somebody asked an attempt to stop.
SELECT 1
FROM hw_attempt
WHERE id = :id AND cancel_requested_at IS NOT NULL;

-- orphan_silent_attempts
-- Close running attempts whose heartbeat stopped.
UPDATE hw_attempt
SET state = 'orphaned', ended_at = :now
WHERE state = 'running' AND heartbeat_at <= :silent_since
RETURNING id;

-- count_attempts
-- How long the history is.
SELECT count(*)
FROM hw_attempt;

-- trim_old_attempts
-- Drop some attempts that ended too long ago, oldest first.
DELETE FROM hw_attempt
WHERE state <> 'running' AND id IN (
    SELECT id
    FROM hw_attempt
    WHERE state <> 'running' AND started_at < :ended_before AND ended_at < :ended_before
    ORDER BY started_at, id
    LIMIT :batch
);

-- trim_surplus_attempts
-- Drop some attempts because the history is too long, oldest first.
DELETE FROM hw_attempt
WHERE state <> 'running' AND id IN (
    SELECT id
    FROM hw_attempt
    WHERE state <> 'running'
    ORDER BY started_at, id
    LIMIT :batch
);
