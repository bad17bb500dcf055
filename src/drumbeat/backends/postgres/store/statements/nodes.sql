-- name: beat
-- Record that a node is alive, and return its holds that are current.
SELECT beat_at, drain_requested, job, fence, cancel_requested
FROM {schema}.record_heartbeat($1, $2, $3, $4, $5, $6);

-- name: leave
-- End the lifetime of a node that has stopped.
UPDATE {schema}.nodes SET expires_at = beat_at WHERE id = $1;

-- name: nodes
-- All nodes, by identity.
SELECT node, beat_at, expires_at,
    expires_at > coalesce($1::timestamptz, clock_timestamp()), drain_requested
FROM {schema}.nodes ORDER BY id;

-- name: drain
-- Ask nodes to finish their work and stop, and return those that exist.
UPDATE {schema}.nodes SET drain_requested = true WHERE id = ANY ($1) RETURNING id;

-- name: claim_fence
-- Turn a lease into an epoch.
SELECT claimed, number FROM {schema}.claim_fence($1, $2, $3, $4, $5, $6);

-- name: fence
-- Who holds the fence of an election.
SELECT epoch, domain, token, holder FROM {schema}.fence WHERE election = $1;

-- name: terms
-- The terms of an election before an epoch, latest first.
SELECT election, epoch, node, domain, token, since FROM {schema}.terms
WHERE election = $1 AND epoch < $2 ORDER BY epoch DESC LIMIT $3;
