-- name: beat
-- A node is alive for another while, and this is how its attempts go on. The holds that come back
-- are current; a cancelled one says so.
WITH moment AS (
    SELECT coalesce($4::timestamptz, clock_timestamp()) AS at
), beat AS (
    INSERT INTO {schema}.nodes AS n (id, node, beat_at, expires_at)
    SELECT $1, $2, at, at + $3::bigint * interval '1 microsecond' FROM moment
    ON CONFLICT (id) DO UPDATE
    SET node = excluded.node, beat_at = excluded.beat_at, expires_at = excluded.expires_at
    RETURNING n.drain_requested, n.beat_at
), progress AS (
    UPDATE {schema}.jobs AS j SET progress = p.progress
    FROM unnest($7::bigint[], $8::integer[], $9::text[]) AS p (id, fence, progress)
    WHERE j.id = p.id AND j.fence = p.fence AND j.node IS NOT NULL
)
SELECT b.beat_at, b.drain_requested, h.id, h.fence, h.cancel_requested
FROM beat AS b LEFT JOIN LATERAL (
    SELECT j.id, j.fence, j.cancel_requested
    FROM unnest($5::bigint[], $6::integer[]) AS w (id, fence)
    JOIN {schema}.jobs AS j ON j.id = w.id AND j.fence = w.fence AND j.node IS NOT NULL
) AS h ON true;

-- name: leave
-- The node has stopped: its last heartbeat was worth nothing after all.
UPDATE {schema}.nodes SET expires_at = beat_at WHERE id = $1;

-- name: nodes
-- All nodes, by identity.
SELECT node, beat_at, expires_at,
    expires_at > coalesce($1::timestamptz, clock_timestamp()), drain_requested
FROM {schema}.nodes ORDER BY id;

-- name: drain
-- Ask nodes to finish their work and stop; those that exist.
UPDATE {schema}.nodes SET drain_requested = true WHERE id = ANY ($1) RETURNING id;

-- name: claim_fence
-- Turn a lease into an epoch.
SELECT claimed, number FROM {schema}.claim_fence_2($1, $2, $3, $4, $5, $6);

-- name: fence
-- Who holds the fence of an election.
SELECT epoch, domain, token, holder FROM {schema}.fence WHERE election = $1;

-- name: terms
-- The terms of an election before an epoch, latest first.
SELECT election, epoch, node, domain, token, since FROM {schema}.terms
WHERE election = $1 AND epoch < $2 ORDER BY epoch DESC LIMIT $3;
