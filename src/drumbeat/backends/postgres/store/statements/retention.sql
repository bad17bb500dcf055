-- name: forget_starts
-- Delete starts that no rate counts any more.
DELETE FROM {schema}.rate_starts WHERE outdated_at <= coalesce($1::timestamptz, clock_timestamp());

-- name: release_keys
-- Free the dedupe keys of finished jobs whose time is over. Jobs with a retention of their own are
-- deleted then.
UPDATE {schema}.archive SET guarded_until = NULL
WHERE id = ANY (ARRAY(
    SELECT id FROM {schema}.archive
    WHERE guarded_until <= coalesce($1::timestamptz, clock_timestamp())
        AND strpos(options, '"retention":') > 0 IS NOT TRUE
    ORDER BY guarded_until LIMIT $2 FOR UPDATE SKIP LOCKED
))
RETURNING id;

-- name: forget_jobs
-- Delete jobs that ended that long ago and guard no dedupe key, the oldest first, those whose own
-- retention is over, and their attempts.
WITH old AS (
    SELECT id FROM {schema}.archive
    WHERE guarded_until IS NULL AND finished_at
        <= coalesce($1::timestamptz, clock_timestamp()) - $2::bigint * interval '1 microsecond'
    ORDER BY finished_at LIMIT $3 FOR UPDATE SKIP LOCKED
), outlived AS (
    SELECT id FROM {schema}.archive
    WHERE guarded_until <= coalesce($1::timestamptz, clock_timestamp())
        AND strpos(options, '"retention":') > 0
    ORDER BY guarded_until LIMIT $3 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM {schema}.archive WHERE id = ANY (ARRAY(
        SELECT id FROM old UNION ALL SELECT id FROM outlived LIMIT $3
    ))
    RETURNING id, lane, status
), attempts AS (
    DELETE FROM {schema}.attempts WHERE job = ANY (ARRAY(SELECT id FROM gone))
), told AS (
    INSERT INTO {schema}.tallies (lane, completed, failed, cancelled)
    SELECT lane, -count(*) FILTER (WHERE status = 'completed'),
        -count(*) FILTER (WHERE status = 'failed'), -count(*) FILTER (WHERE status = 'cancelled')
    FROM gone GROUP BY lane
), remembered AS (
    INSERT INTO {schema}.forgotten_jobs AS f (queue, completed, failed, cancelled)
    SELECT l.queue, count(*) FILTER (WHERE g.status = 'completed'),
        count(*) FILTER (WHERE g.status = 'failed'), count(*) FILTER (WHERE g.status = 'cancelled')
    FROM gone AS g JOIN {schema}.lanes AS l ON l.id = g.lane
    GROUP BY l.queue ORDER BY l.queue
    ON CONFLICT (queue) DO UPDATE SET completed = f.completed + excluded.completed,
        failed = f.failed + excluded.failed, cancelled = f.cancelled + excluded.cancelled
)
SELECT count(*) FROM gone;

-- name: forget_ticks
-- Delete ledger rows of that age, the oldest first, but never the last row of a schedule.
WITH gone AS (
    DELETE FROM {schema}.ticks WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM {schema}.ticks AS o
        WHERE o.recorded_at
            <= coalesce($1::timestamptz, clock_timestamp()) - $2::bigint * interval '1 microsecond'
        AND (
            SELECT l.number FROM {schema}.ticks AS l WHERE l.schedule = o.schedule
            AND (l.tick_at, l.number) > (o.tick_at, o.number)
            ORDER BY l.tick_at DESC, l.number DESC LIMIT 1
        ) IS NOT NULL
        ORDER BY o.recorded_at LIMIT $3
    ))
    RETURNING 1
)
SELECT count(*) FROM gone;

-- name: forget_nodes
-- Delete nodes whose heartbeat ended that long ago, the oldest first.
WITH gone AS (
    DELETE FROM {schema}.nodes WHERE id IN (
        SELECT id FROM {schema}.nodes WHERE expires_at
            <= coalesce($1::timestamptz, clock_timestamp()) - $2::bigint * interval '1 microsecond'
        ORDER BY expires_at LIMIT $3
    )
    RETURNING 1
)
SELECT count(*) FROM gone;
