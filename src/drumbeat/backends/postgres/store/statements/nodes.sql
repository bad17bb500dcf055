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

-- name: check_all
-- How many nodes with a witness are alive, and those whose witness is free.
WITH expected AS (
    SELECT id, (node::json ->> 'witness')::bigint AS witness, beat_at FROM {schema}.nodes
    WHERE expires_at > coalesce($2::timestamptz, clock_timestamp()) AND node <> ''
), held AS (
    SELECT objid::bigint AS witness FROM pg_locks
    WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
), missing AS (
    SELECT * FROM expected WHERE witness IS NOT NULL
      AND witness NOT IN (SELECT witness FROM held)
)
SELECT (SELECT count(*) FROM expected WHERE witness IS NOT NULL),
    coalesce(array_agg(id ORDER BY id), '{}'), coalesce(array_agg(witness ORDER BY id), '{}'),
    coalesce(array_agg(beat_at ORDER BY id), '{}')
FROM missing;

-- name: declare_dead
-- End the lifetime of a node that has sent no heartbeat since an instant: later than at that
-- heartbeat, since a node that expires at its last heartbeat has stopped in order.
UPDATE {schema}.nodes SET expires_at = beat_at + interval '1 millisecond'
WHERE id = $1 AND beat_at = $2 AND expires_at > beat_at + interval '1 millisecond'
RETURNING id;

-- name: take_witness
-- Lock a number for the rest of the session, if nobody has it; return the process that has it then.
SELECT CASE WHEN pg_try_advisory_lock($1::integer, $2::integer) THEN pg_backend_pid() END;

-- name: end_own_session
-- End an earlier session of ours that has the lock, and only that one.
SELECT count(pg_terminate_backend(pid)) FROM pg_locks
WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND objid = $2::bigint::oid
  AND objsubid = 2 AND pid = $3 AND granted;

-- name: pause
-- Wait until a session that was told to end has ended.
SELECT pg_sleep($1);

-- name: prove
-- An answer shows that the session goes on, if it is of the process that took the number.
SELECT pg_backend_pid();

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
