-- get_claim
-- A view's claim row, held or free; the fencing number stays after a release.
SELECT view, fence, attempt, host, boot, pid, process_started, limit_seconds,
       claimed_at, renewed_at, finishing
FROM hw_claim
WHERE view = :view;

-- list_held_claims
-- Every claim somebody holds.
SELECT view, fence, attempt, host, boot, pid, process_started, limit_seconds,
       claimed_at, renewed_at, finishing
FROM hw_claim
WHERE attempt IS NOT NULL
ORDER BY view;

-- claim_first_time
-- Claim a view that was never claimed; loses to anybody who did so a moment earlier.
INSERT INTO hw_claim (view, fence, attempt, host, boot, pid, process_started, limit_seconds,
                      claimed_at, renewed_at)
VALUES (:view, 1, :attempt, :host, :boot, :pid, :process_started, :limit_seconds, :now, :now)
ON CONFLICT (view) DO NOTHING;

-- claim_free
-- Claim a view whose claim is free, provided nobody claimed it since it was looked at.
UPDATE hw_claim
SET fence = fence + 1, attempt = :attempt, host = :host, boot = :boot, pid = :pid,
    process_started = :process_started, limit_seconds = :limit_seconds,
    claimed_at = :now, renewed_at = :now
WHERE view = :view AND fence = :seen_fence AND attempt IS NULL;

-- take_claim_over
-- Take a claim from an owner that is dead or silent, provided it was not renewed since looked at.
UPDATE hw_claim
SET fence = fence + 1, attempt = :attempt, host = :host, boot = :boot, pid = :pid,
    process_started = :process_started, limit_seconds = :limit_seconds,
    claimed_at = :now, renewed_at = :now
WHERE view = :view
  AND fence = :seen_fence
  AND attempt = :seen_attempt
  AND renewed_at = :seen_renewed_at;

-- renew_claim
-- Show that the owner lives; touches nothing once the claim is somebody else's.
UPDATE hw_claim
SET renewed_at = :now
WHERE view = :view AND fence = :fence AND attempt = :attempt;

-- finish_claim
-- Show that the attempt commits now; a later grant has another fencing number.
UPDATE hw_claim
SET finishing = fence
WHERE view = :view AND fence = :fence AND attempt = :attempt;

-- release_claim
-- Free a claim, provided it is still the one that was granted; the fencing number stays.
UPDATE hw_claim
SET attempt = NULL, host = NULL, boot = NULL, pid = NULL, process_started = NULL
WHERE view = :view AND fence = :fence AND attempt = :attempt;

-- free_silent_claim
-- Free a claim of an owner that is dead or silent, provided it was not renewed since looked at.
UPDATE hw_claim
SET attempt = NULL, host = NULL, boot = NULL, pid = NULL, process_started = NULL
WHERE view = :view
  AND fence = :seen_fence
  AND attempt = :seen_attempt
  AND renewed_at = :seen_renewed_at;

-- orphan_attempt
-- Close the history row of an attempt whose claim was taken away.
UPDATE hw_attempt
SET state = 'orphaned', ended_at = :now
WHERE id = :attempt AND state = 'running';
