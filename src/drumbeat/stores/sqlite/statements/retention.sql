-- name: forget_starts
-- Starts that concern no rate any more.
DELETE FROM rate_starts WHERE outdated_at <= ?;

-- name: forget_paces
-- The same, as older versions of Drumbeat kept it.
DELETE FROM paces WHERE pace <= ?;

-- name: release_keys
-- Finished jobs whose dedupe key stands for nothing any more.
UPDATE finished SET guarded_until = NULL
WHERE id IN (SELECT id FROM finished WHERE guarded_until <= ? ORDER BY guarded_until LIMIT ?);

-- name: old_jobs
-- Jobs that ended so long ago and guard no key, the oldest first.
SELECT finished.id, jobs.line, finished.status
FROM finished CROSS JOIN jobs ON jobs.id = finished.id
WHERE finished.guarded_until IS NULL AND finished.finished_at <= ?
ORDER BY finished.finished_at LIMIT ?;

-- name: delete_jobs
-- Jobs are forgotten.
DELETE FROM jobs WHERE id IN (SELECT value FROM json_each(?));

-- name: delete_finished
-- And what became of them.
DELETE FROM finished WHERE id IN (SELECT value FROM json_each(?));

-- name: delete_attempts
-- And their attempts with them.
DELETE FROM attempts WHERE job IN (SELECT value FROM json_each(?));

-- name: unnamed_lines
-- Lines with limits or a rate that no job names any more.
SELECT id FROM lines WHERE jobs = 0 AND id <> lane LIMIT ?;

-- name: delete_unnamed_fronts
-- Such lines may still stand in front, for a job that was cancelled while it waited.
DELETE FROM fronts WHERE line IN (SELECT value FROM json_each(?)) RETURNING line;

-- name: delete_lines
-- Lines are forgotten, once nothing stands in front for them.
DELETE FROM lines WHERE id IN (SELECT value FROM json_each(?));

-- name: empty_lanes
-- Lanes that no job is in and that no other line belongs to.
SELECT id FROM lanes
WHERE pending + queued + running + completed + failed + cancelled = 0
    AND id IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM lines WHERE lines.lane = lanes.id AND lines.id <> lanes.id)
    AND NOT EXISTS (SELECT 1 FROM openings WHERE openings.lane = lanes.id);

-- name: delete_lanes
-- Lanes are forgotten.
DELETE FROM lanes WHERE id IN (SELECT value FROM json_each(?));

-- name: forget_ticks
-- Ledger rows of that age, the oldest first, but never the last row of a schedule.
DELETE FROM ticks WHERE (schedule, tick_at, number) IN (
    SELECT old.schedule, old.tick_at, old.number FROM ticks AS old
    WHERE old.recorded_at <= ? AND EXISTS (
        SELECT 1 FROM ticks AS later WHERE later.schedule = old.schedule
        AND (later.tick_at, later.number) > (old.tick_at, old.number)
    )
    ORDER BY old.recorded_at LIMIT ?
);

-- name: forget_nodes
-- Nodes whose heartbeat ended so long ago, the oldest first.
DELETE FROM nodes WHERE id IN (
    SELECT id FROM nodes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
);
