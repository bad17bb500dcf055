-- name: by_names
-- Schedules of some names.
SELECT
    name, definition, version, cursor, next_tick, created_at, updated_at, origin, declared, paused,
    pause_reason, runs, last_job, skips
FROM schedules WHERE name IN (SELECT value FROM json_each(?));

-- name: from_name
-- Schedules by name, from a name on and before another (null: to the end).
SELECT
    name, definition, version, cursor, next_tick, created_at, updated_at, origin, declared, paused,
    pause_reason, runs, last_job, skips
FROM schedules WHERE name >= :prefix AND name > :after AND (:end IS NULL OR name < :end)
ORDER BY name LIMIT :limit;

-- name: due
-- Schedules whose next tick comes by an instant, the earliest first, with their previous job.
SELECT
    schedules.name, definition, version, cursor, next_tick, schedules.created_at, updated_at,
    origin, declared, paused, pause_reason, runs, last_job, skips,
    jobs.id,
    CASE
        WHEN finished.id IS NOT NULL THEN finished.status
        WHEN running.id IS NOT NULL THEN 'running'
        WHEN pending.id IS NOT NULL THEN 'pending'
        ELSE 'queued'
    END,
    finished.finished_at
FROM schedules
LEFT JOIN jobs ON jobs.id = schedules.last_job
LEFT JOIN finished ON finished.id = jobs.id
LEFT JOIN running ON running.id = jobs.id
LEFT JOIN pending ON pending.run_at = jobs.run_at AND pending.id = jobs.id
WHERE schedules.next_tick <= ? ORDER BY schedules.next_tick LIMIT ?;

-- name: next_tick
-- The earliest tick after an instant.
SELECT next_tick FROM schedules WHERE next_tick > ? ORDER BY next_tick LIMIT 1;

-- name: version
-- The version and cursor that an edit is compared with.
SELECT version, cursor FROM schedules WHERE name = ?;

-- name: write
-- Write a schedule; it replaces the one with its name, if there is one.
INSERT OR REPLACE INTO schedules (
    name, definition, version, cursor, next_tick, created_at, updated_at, origin, declared, paused,
    pause_reason, runs, last_job, skips
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: remove
-- Delete a schedule; its ledger stays.
DELETE FROM schedules WHERE name = ?;

-- name: states
-- What plans are compared with: version and cursor, and whether the last job is unfinished.
SELECT
    schedules.name, version, cursor, runs, last_job, skips,
    jobs.id IS NOT NULL AND finished.id IS NULL
FROM schedules
LEFT JOIN jobs ON jobs.id = schedules.last_job
LEFT JOIN finished ON finished.id = schedules.last_job
WHERE schedules.name IN (SELECT value FROM json_each(?));

-- name: advance
-- Advance schedules whose plans were written, if they are still at the cursor that was read.
WITH advanced (name, version, before, cursor, next_tick, runs, last_job, skips) AS (
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
)
UPDATE schedules SET
    cursor = advanced.cursor, next_tick = advanced.next_tick, runs = advanced.runs,
    last_job = advanced.last_job, skips = advanced.skips
FROM advanced
WHERE schedules.name = advanced.name
    AND schedules.version = advanced.version AND schedules.cursor = advanced.before;

-- name: fired
-- Which of some ticks, as pairs of name and instant, have fired.
SELECT ticks.schedule, ticks.tick_at
FROM json_each(?) AS wanted
CROSS JOIN ticks
ON ticks.schedule = wanted.value ->> 0 AND ticks.tick_at = wanted.value ->> 1 AND ticks.number = 0;

-- name: record
-- Write rows of the ledger.
INSERT INTO ticks (
    schedule, tick_at, number, recorded_at, through, count, reason, job, leader, epoch, backfilled
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: ticks
-- The ledger of a schedule before a place, latest tick first.
SELECT
    schedule, tick_at, number, recorded_at, through, count, reason, job, leader, epoch, backfilled
FROM ticks WHERE schedule = ? AND (tick_at, number) < (?, ?)
ORDER BY tick_at DESC, number DESC LIMIT ?;

-- name: recorded
-- The last rows of all ledgers since an instant; the index orders those of one instant.
SELECT
    schedule, tick_at, number, recorded_at, through, count, reason, job, leader, epoch, backfilled
FROM ticks WHERE recorded_at >= ?
ORDER BY recorded_at DESC, schedule DESC, tick_at DESC, number DESC LIMIT ?;

-- name: revisions
-- The last change of each schedule, by name.
SELECT name, version, updated_at, paused, pause_reason
FROM schedules WHERE name > ? ORDER BY name LIMIT ?;
