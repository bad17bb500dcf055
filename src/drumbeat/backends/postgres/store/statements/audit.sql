-- name: record
-- Add an entry, before the change is made.
INSERT INTO {schema}.audit (at, actor, action, target, reason, details)
VALUES (coalesce($1::timestamptz, clock_timestamp()), $2, $3, $4, $5, $6)
RETURNING id, at, actor, action, target, reason, details, outcome;

-- name: conclude
-- Add the outcome; the first one stays.
UPDATE {schema}.audit SET outcome = $2 WHERE id = $1 AND outcome IS NULL;

-- name: entries
-- Entries of the log; a condition is appended.
SELECT id, at, actor, action, target, reason, details, outcome FROM {schema}.audit;

-- name: forget
-- Delete entries of that age, the oldest first.
WITH gone AS (
    DELETE FROM {schema}.audit WHERE id = ANY (ARRAY(
        SELECT id FROM {schema}.audit WHERE at
            <= coalesce($1::timestamptz, clock_timestamp()) - $2::bigint * interval '1 microsecond'
        ORDER BY at, id LIMIT $3
    ))
    RETURNING 1
)
SELECT count(*) FROM gone;
