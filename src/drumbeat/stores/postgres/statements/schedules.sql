-- name: by_names
-- Schedules, and the store's time.
SELECT coalesce($2::timestamptz, clock_timestamp()), s.*
FROM (SELECT) AS always LEFT JOIN {schema}.schedules AS s ON s.name = ANY ($1::text[]);

-- name: from_name
-- Schedules by name, from one on and before another.
SELECT * FROM {schema}.schedules
WHERE name >= $1 AND name > $2 AND ($3::text IS NULL OR name < $3)
ORDER BY name LIMIT $4;

-- name: due
-- Schedules whose next tick has come, the longest overdue first, each with its previous job; one
-- more than asked for, or the next one that is not due, tells when to look again.
SELECT d.as_of, s.*, coalesce(j.id, a.id), coalesce(j.status, a.status), a.finished_at
FROM (SELECT coalesce($1::timestamptz, clock_timestamp())) AS d (as_of)
LEFT JOIN LATERAL (
    (
        SELECT * FROM {schema}.schedules WHERE next_tick <= d.as_of
        ORDER BY next_tick, name LIMIT $2 + 1
    )
    UNION ALL
    (
        SELECT * FROM {schema}.schedules WHERE next_tick > d.as_of
        ORDER BY next_tick, name LIMIT 1
    )
) AS s ON true
LEFT JOIN LATERAL (SELECT * FROM {schema}.jobs WHERE id = s.last_job LIMIT 1) AS j ON true
LEFT JOIN LATERAL (SELECT * FROM {schema}.archive WHERE id = s.last_job LIMIT 1) AS a ON true
ORDER BY s.next_tick, s.name;

-- name: put
-- Apply each edit whose `before` still stands.
SELECT {schema}.put_1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22
);

-- name: commit
-- Write each plan whole, if the epoch holds the fence. An array of one stands for all.
SELECT seen, written, ids FROM {schema}.commit_2(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
    $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33
);

-- name: backfill
-- Fire past ticks by hand.
SELECT {schema}.backfill_1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17
);

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
