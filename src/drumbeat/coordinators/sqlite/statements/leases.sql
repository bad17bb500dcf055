-- name: acquire
-- A new term, unless there is one that lives: it has not run out, and the machine has not been
-- started anew since.
INSERT INTO leases (name, holder, token, ttl, ends_at, boot)
VALUES (:name, :holder, (SELECT token + 1 FROM coordinator_counters), :ttl, :ends_at, :boot)
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, token = excluded.token, ttl = excluded.ttl,
    ends_at = excluded.ends_at, boot = excluded.boot
WHERE leases.ends_at <= :now OR leases.boot <> :boot
RETURNING token;

-- name: keep_token
-- A token that was given out is not given out again, whatever becomes of its term.
UPDATE coordinator_counters SET token = ?;

-- name: renew
-- Lengthen this very term, if it lives.
UPDATE leases SET ends_at = :now + ttl
WHERE name = :name AND holder = :holder AND token = :token AND boot = :boot AND ends_at > :now
RETURNING ttl;

-- name: release
-- End this very term, if it lives.
DELETE FROM leases
WHERE name = :name AND holder = :holder AND token = :token AND boot = :boot AND ends_at > :now
RETURNING token;

-- name: current
-- The term of a name, if it lives.
SELECT holder, token, ttl, ends_at FROM leases
WHERE name = :name AND boot = :boot AND ends_at > :now;

-- name: last_token
-- The last token that was given out: tells one vacancy from the next.
SELECT token FROM coordinator_counters;

-- name: forget_ended
-- Terms that ran out, of names that nobody may ever ask for again.
DELETE FROM leases WHERE ends_at <= :now OR boot <> :boot;
