-- add_event
-- Write down that something happened.
INSERT INTO hw_event (at, kind, subject, level, what, detail)
VALUES (:now, :kind, :subject, :level, :what, :detail);

-- list_events
-- The newest events, continued before a given one.
SELECT id, at, kind, subject, level, what, detail
FROM hw_event
WHERE id < :before
ORDER BY id DESC
LIMIT :limit;

-- list_events_of_subject
-- The newest events about one view, source or runner.
SELECT id, at, kind, subject, level, what, detail
FROM hw_event
WHERE subject = :subject AND id < :before
ORDER BY id DESC
LIMIT :limit;

-- list_alerts
-- Every alert that is not at rest.
SELECT subject, kind, level, changed_at
FROM hw_alert
ORDER BY subject, kind;

-- raise_alert
-- Note an alert for a subject that had none; loses to a checker who was faster.
INSERT INTO hw_alert (subject, kind, level, changed_at)
VALUES (:subject, :kind, :level, :now)
ON CONFLICT (subject, kind) DO NOTHING;

-- move_alert
-- Change an alert's level from what was seen; loses to a checker who was faster.
UPDATE hw_alert
SET level = :level, changed_at = :now
WHERE subject = :subject AND kind = :kind AND level = :seen;

-- clear_alert
-- Forget an alert that is over; loses to a checker who was faster.
DELETE FROM hw_alert
WHERE subject = :subject AND kind = :kind AND level = :seen;

-- count_events
-- How long the history of events is.
SELECT count(*)
FROM hw_event;

-- trim_old_events
-- Drop some events that are too old.
DELETE FROM hw_event
WHERE id IN (SELECT id FROM hw_event WHERE at < :before_at ORDER BY id LIMIT :batch);

-- trim_surplus_events
-- Drop some events because there are too many, oldest first.
DELETE FROM hw_event
WHERE id IN (SELECT id FROM hw_event ORDER BY id LIMIT :batch);
