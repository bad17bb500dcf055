-- name: delete_starts
-- Delete starts that no rate needs any more.
DELETE FROM rate_starts WHERE outdated_at <= ?;

-- name: release_keys
-- Finished jobs whose dedupe key is free again, except those with a retention of their own.
UPDATE finished SET guarded_until = NULL
WHERE id IN (
    SELECT ended.id FROM finished AS ended CROSS JOIN jobs ON jobs.id = ended.id
    WHERE ended.guarded_until <= ? AND json_extract(jobs.options, '$.retention') IS NULL
    ORDER BY ended.guarded_until LIMIT ?
);

-- name: old_jobs
-- Jobs that ended before an instant and guard no dedupe key, the oldest first.
SELECT finished.id, jobs.limit_group, finished.status
FROM finished CROSS JOIN jobs ON jobs.id = finished.id
WHERE finished.guarded_until IS NULL AND finished.finished_at <= ?
ORDER BY finished.finished_at LIMIT ?;

-- name: outlived_jobs
-- Jobs whose own retention is over and that guard no dedupe key, the earliest first.
SELECT finished.id, jobs.limit_group, finished.status
FROM finished CROSS JOIN jobs ON jobs.id = finished.id
WHERE finished.guarded_until <= ? AND json_extract(jobs.options, '$.retention') IS NOT NULL
ORDER BY finished.guarded_until LIMIT ?;

-- name: delete_jobs
-- Delete the rows of jobs.
DELETE FROM jobs WHERE id IN (SELECT value FROM json_each(?));

-- name: delete_expiring
-- Delete when they would have expired.
DELETE FROM expiring WHERE id IN (SELECT value FROM json_each(?));

-- name: delete_finished
-- Delete how they ended.
DELETE FROM finished WHERE id IN (SELECT value FROM json_each(?));

-- name: delete_attempts
-- Delete their attempts.
DELETE FROM attempts WHERE job IN (SELECT value FROM json_each(?));

-- name: unused_groups
-- Limit groups with limits or a rate that have no job any more.
SELECT id FROM limit_groups WHERE jobs = 0 AND id <> lane LIMIT ?;

-- name: delete_unused_fronts
-- Such groups may still have a front, of a job that was cancelled while it waited.
DELETE FROM fronts WHERE limit_group IN (SELECT value FROM json_each(?)) RETURNING limit_group;

-- name: delete_groups
-- Delete limit groups, once they have no front.
DELETE FROM limit_groups WHERE id IN (SELECT value FROM json_each(?));

-- name: empty_lanes
-- Lanes without jobs and without a group that has limits or a rate.
SELECT id FROM lanes
WHERE pending + queued + running + completed + failed + cancelled = 0
    AND id IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (
        SELECT 1 FROM limit_groups AS groups WHERE groups.lane = lanes.id AND groups.id <> lanes.id
    )
    AND NOT EXISTS (SELECT 1 FROM openings WHERE openings.lane = lanes.id);

-- name: delete_lanes
-- Delete empty lanes.
DELETE FROM lanes WHERE id IN (SELECT value FROM json_each(?));

-- name: delete_ticks
-- Delete old ledger rows, the oldest first, but never the last row of a schedule.
DELETE FROM ticks WHERE (schedule, tick_at, number) IN (
    SELECT old.schedule, old.tick_at, old.number FROM ticks AS old
    WHERE old.recorded_at <= ? AND EXISTS (
        SELECT 1 FROM ticks AS later WHERE later.schedule = old.schedule
        AND (later.tick_at, later.number) > (old.tick_at, old.number)
    )
    ORDER BY old.recorded_at LIMIT ?
);

-- name: delete_nodes
-- Delete nodes whose heartbeat ended long ago, the oldest first.
DELETE FROM nodes WHERE id IN (
    SELECT id FROM nodes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
);
