-- get_lease
-- Who holds a lease, in which term, and how often it was renewed.
SELECT name, term, beat, holder, granted_at, renewed_at
FROM hw_lease
WHERE name = :name;

-- grant_first_lease
-- Take a lease that nobody ever held; loses to anybody who did so a moment earlier.
INSERT INTO hw_lease (name, term, beat, holder, granted_at, renewed_at)
VALUES (:name, 1, 1, :holder, :now, :now)
ON CONFLICT (name) DO NOTHING;

-- take_lease
-- Take a lease over as it was seen; loses if it was renewed or taken since.
UPDATE hw_lease
SET term = term + 1, beat = beat + 1, holder = :holder, granted_at = :now, renewed_at = :now
WHERE name = :name AND term = :term AND beat = :beat;

-- renew_lease
-- Show that the holder lives; touches nothing once the lease is somebody else's.
UPDATE hw_lease
SET beat = beat + 1, renewed_at = :now
WHERE name = :name AND term = :term AND holder = :holder;

-- release_lease
-- Let go, so that nobody has to wait for the limit; the term stays.
UPDATE hw_lease
SET beat = beat + 1, holder = NULL
WHERE name = :name AND term = :term AND holder = :holder;

-- hold_lease
-- Keep the lease's row from changing until the transaction ends, provided the term is ours.
UPDATE hw_lease
SET holder = holder
WHERE name = :name AND term = :term AND holder = :holder;
