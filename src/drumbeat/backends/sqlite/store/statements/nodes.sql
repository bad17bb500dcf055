-- name: beat
-- Record a node's heartbeat.
INSERT INTO nodes (id, node, beat_at, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE
SET node = excluded.node, beat_at = excluded.beat_at, expires_at = excluded.expires_at
RETURNING drain_requested;

-- name: progress
-- Record the progress of an attempt, if it is still held.
UPDATE running SET progress = ? WHERE id = ? AND fence = ?;

-- name: holds
-- Which of some jobs are held, by which fence, and whether they are to be cancelled.
SELECT id, fence, cancel_requested FROM running WHERE id IN (SELECT value FROM json_each(?));

-- name: lives
-- Whether a node is alive at an instant.
SELECT 1 FROM nodes WHERE id = ? AND expires_at > ?;

-- name: leave
-- End a node's last heartbeat.
UPDATE nodes SET expires_at = beat_at WHERE id = ?;

-- name: nodes
-- All nodes by identity.
SELECT node, beat_at, expires_at, drain_requested FROM nodes ORDER BY id;

-- name: witnesses
-- The nodes that have a witness and are alive at an instant.
SELECT id, json_extract(node, '$.witness') AS number, beat_at FROM nodes
WHERE expires_at > ? AND number IS NOT NULL;

-- name: declare_dead
-- End the lifetime of a node that has sent no heartbeat since an instant: a millisecond later than
-- at that heartbeat, since a node that expires at its last heartbeat has stopped in order.
UPDATE nodes SET expires_at = beat_at + 1000
WHERE id = ? AND beat_at = ? AND expires_at > beat_at + 1000
RETURNING id;

-- name: drain
-- Ask a node to finish its work and stop.
UPDATE nodes SET drain_requested = 1 WHERE id = ? RETURNING id;

-- name: fence
-- Who holds the fence of an election.
SELECT epoch, domain, token, holder FROM fence WHERE election = ?;

-- name: raise_token
-- Record a token if it is above every one seen of its domain; no row: it is not.
INSERT INTO fence_tokens (election, domain, token) VALUES (?, ?, ?)
ON CONFLICT (election, domain) DO UPDATE SET token = excluded.token
WHERE excluded.token > fence_tokens.token
RETURNING token;

-- name: take_fence
-- Give the fence to a lease, and raise the epoch.
INSERT INTO fence (election, epoch, domain, token, holder) VALUES (?, 1, ?, ?, ?)
ON CONFLICT (election) DO UPDATE
SET epoch = fence.epoch + 1, domain = excluded.domain, token = excluded.token,
    holder = excluded.holder
RETURNING epoch;

-- name: keep_term
-- Record the term that took the fence; it replaces an older one if the fence was reset by hand.
INSERT OR REPLACE INTO terms (election, epoch, node, domain, token, since)
VALUES (?, ?, ?, ?, ?, ?);

-- name: forget_terms
-- Delete the terms of an election up to an epoch.
DELETE FROM terms WHERE election = ? AND epoch <= ?;

-- name: terms
-- The terms of an election before an epoch, latest first.
SELECT election, epoch, node, domain, token, since FROM terms
WHERE election = ? AND epoch < ? ORDER BY epoch DESC LIMIT ?;
