-- name: acquire
-- Grant a new term, unless there is a live one: one that has not ended, of the same boot.
INSERT INTO leases (name, holder, token, ttl, ends_at, boot)
VALUES (:name, :holder, (SELECT token + 1 FROM coordinator_counters), :ttl, :ends_at, :boot)
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, token = excluded.token, ttl = excluded.ttl,
    ends_at = excluded.ends_at, boot = excluded.boot
WHERE leases.ends_at <= :now OR leases.boot <> :boot
RETURNING token;

-- name: save_token
-- Save the token, so that it is not given out again, even if its term is deleted.
UPDATE coordinator_counters SET token = ?;

-- name: renew
-- Renew this very term, if it is live.
UPDATE leases SET ends_at = :now + ttl
WHERE name = :name AND holder = :holder AND token = :token AND boot = :boot AND ends_at > :now
RETURNING ttl;

-- name: release
-- End this very term, if it is live.
DELETE FROM leases
WHERE name = :name AND holder = :holder AND token = :token AND boot = :boot AND ends_at > :now
RETURNING token;

-- name: current
-- The live term of a name.
SELECT holder, token, ttl, ends_at FROM leases
WHERE name = :name AND boot = :boot AND ends_at > :now;

-- name: last_token
-- The last token that was given out. It tells one vacancy from the next.
SELECT token FROM coordinator_counters;

-- name: delete_ended
-- Delete terms that ended: nobody may ever ask for their names again.
DELETE FROM leases WHERE ends_at <= :now OR boot <> :boot;
