-- name: by_names
-- Schedules, and the store's time.
SELECT coalesce($2::timestamptz, clock_timestamp()) AS as_of,
    s.name, s.definition, s.version, s.cursor, s.next_tick, s.created_at, s.updated_at, s.origin,
    s.declared, s.paused, s.pause_reason, s.runs, s.last_job, s.skips
FROM (SELECT) AS always LEFT JOIN {schema}.schedules AS s ON s.name = ANY ($1::text[]);

-- name: from_name
-- Schedules by name, from one on and before another.
SELECT s.name, s.definition, s.version, s.cursor, s.next_tick, s.created_at, s.updated_at, s.origin,
    s.declared, s.paused, s.pause_reason, s.runs, s.last_job, s.skips
FROM {schema}.schedules AS s
WHERE name >= $1 AND name > $2 AND ($3::text IS NULL OR name < $3)
ORDER BY name LIMIT $4;

-- name: due
-- Schedules whose next tick comes within a time, the earliest first, each with its previous job. One
-- more than asked for, or the next one after these, says when to look again.
SELECT d.as_of,
    s.name, s.definition, s.version, s.cursor, s.next_tick, s.created_at, s.updated_at, s.origin,
    s.declared, s.paused, s.pause_reason, s.runs, s.last_job, s.skips,
    coalesce(j.id, a.id), coalesce(j.status, a.status), a.finished_at
FROM (SELECT coalesce($1::timestamptz, clock_timestamp())) AS d (as_of)
LEFT JOIN LATERAL (
    (
        SELECT * FROM {schema}.schedules WHERE next_tick <= d.as_of + $3::interval
        ORDER BY next_tick, name LIMIT $2 + 1
    )
    UNION ALL
    (
        SELECT * FROM {schema}.schedules WHERE next_tick > d.as_of + $3::interval
        ORDER BY next_tick, name LIMIT 1
    )
) AS s ON true
LEFT JOIN LATERAL (SELECT * FROM {schema}.jobs WHERE id = s.last_job LIMIT 1) AS j ON true
LEFT JOIN LATERAL (SELECT * FROM {schema}.archive WHERE id = s.last_job LIMIT 1) AS a ON true
ORDER BY s.next_tick, s.name;

-- name: put
-- Apply each edit whose schedule still stands as it was read.
SELECT {schema}.put_schedules($1, $2);

-- name: commit
-- Write each plan whole, if the epoch holds the fence.
SELECT seen, written, ids FROM {schema}.commit_plans($1, $2, $3, $4, $5, $6, $7, $8);

-- name: backfill
-- Fire past ticks by hand.
SELECT {schema}.backfill_ticks($1, $2, $3, $4);

-- name: ticks
-- The ledger of a schedule, latest tick first, before a place.
SELECT schedule, tick_at, number, recorded_at, through, count, reason, job, leader, epoch,
    backfilled
FROM {schema}.ticks
WHERE schedule = $1 AND (tick_at, number) < ($2, $3)
ORDER BY tick_at DESC, number DESC LIMIT $4;

-- name: recorded
-- The last rows of all ledgers, from an instant on.
SELECT schedule, tick_at, number, recorded_at, through, count, reason, job, leader, epoch,
    backfilled
FROM {schema}.ticks
WHERE recorded_at >= $1
ORDER BY recorded_at DESC, schedule DESC, tick_at DESC, number DESC LIMIT $2;

-- name: revisions
-- How schedules were changed last, by name.
SELECT name, version, updated_at, paused, pause_reason
FROM {schema}.schedules WHERE name > $1 ORDER BY name LIMIT $2;
