-- name: counters
-- The last numbers given out, whether any limit, rate or pause blocks anything, and when the first
-- job expires.
SELECT job, tick, limit_group, generation,
    EXISTS (SELECT 1 FROM fronts), EXISTS (SELECT 1 FROM openings),
    EXISTS (SELECT 1 FROM paused_queues), (SELECT min(expires_at) FROM expiring)
FROM counters;

-- name: save_counters
-- Save the last numbers given out, so that none is given out twice.
UPDATE counters SET job = ?, tick = ?, limit_group = ?, generation = ?;

-- name: lanes_after
-- Lanes created since the last look.
SELECT id, queue, task FROM lanes WHERE id > ? ORDER BY id;

-- name: make_lane
-- Create a lane for a task's first job in a queue.
INSERT INTO lanes (id, queue, task) VALUES (?, ?, ?);

-- name: group_by_kind
-- The limit group of a lane with these limits and this rate.
SELECT id FROM limit_groups WHERE lane = ? AND limits = ? AND rate = ?;

-- name: groups_by_kind
-- Limit groups by lane, limits and rate, each with the place that it has in the question.
WITH wanted (place, lane, limits, rate) AS (VALUES (?, ?, ?, ?))
SELECT wanted.place, groups.id
FROM wanted CROSS JOIN limit_groups AS groups
ON groups.lane = wanted.lane AND groups.limits = wanted.limits AND groups.rate = wanted.rate;

-- name: make_group
-- Create a limit group for its first job.
INSERT INTO limit_groups (id, lane, limits, rate) VALUES (?, ?, ?, ?);

-- name: group_by_id
-- What the jobs of a limit group have in common.
SELECT groups.id, groups.lane, lanes.queue, lanes.task, groups.limits, groups.rate
FROM limit_groups AS groups JOIN lanes ON lanes.id = groups.lane WHERE groups.id = ?;

-- name: groups_by_id
-- What the jobs of each of some limit groups have in common.
SELECT groups.id, groups.lane, lanes.queue, lanes.task, groups.limits, groups.rate
FROM limit_groups AS groups JOIN lanes ON lanes.id = groups.lane
WHERE groups.id IN (SELECT value FROM json_each(?));

-- name: insert_plain_jobs
-- Insert plain jobs. Columns that are not named have their default: a third of the columns takes a
-- third of the time.
INSERT INTO jobs (id, limit_group, rank, run_at, created_at, arguments, options)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: insert_alike_jobs
-- Insert plain jobs that differ only in id and arguments: all else is given once.
INSERT INTO jobs (id, limit_group, rank, run_at, created_at, options, arguments)
SELECT column1, ?, ?, ?, ?, ?, column2 FROM (VALUES (?, ?));

-- name: insert_ticked_jobs
-- Insert jobs of schedules, or with a time of their own.
INSERT INTO jobs (
    id, limit_group, rank, run_at, created_at, arguments, options, schedule, tick_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_jobs
-- Insert jobs of any kind.
INSERT INTO jobs (
    id, limit_group, rank, run_at, created_at, arguments, options, schedule, tick_at,
    tags, dedupe_digest, guards_for, guarded_until
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_expiring
-- When jobs expire.
INSERT INTO expiring (id, expires_at) VALUES (?, ?);

-- name: expired
-- Jobs that have expired and that no worker holds, the longest expired first.
SELECT expiring.id FROM expiring
WHERE expiring.expires_at <= ?
    AND NOT EXISTS (SELECT 1 FROM running WHERE running.id = expiring.id)
ORDER BY expiring.expires_at, expiring.id LIMIT ?;

-- name: next_expiry
-- When the next job that no worker holds expires.
SELECT expiring.expires_at FROM expiring
WHERE NOT EXISTS (SELECT 1 FROM running WHERE running.id = expiring.id)
ORDER BY expiring.expires_at, expiring.id LIMIT 1;

-- name: delete_expiring
-- Jobs that do not expire any more.
DELETE FROM expiring WHERE id IN (SELECT value FROM json_each(?));

-- name: insert_queued
-- Queue jobs, so that workers may claim them.
INSERT INTO queued (limit_group, rank, run_at, id, queued_at) VALUES (?, ?, ?, ?, ?);

-- name: queue_plain
-- Queue the plain jobs that were just inserted, by their ids: their rows have all that is needed.
INSERT INTO queued (limit_group, rank, run_at, id, queued_at)
SELECT limit_group, rank, run_at, id, created_at FROM jobs WHERE id BETWEEN ? AND ? ORDER BY id;

-- name: insert_pending
-- Let jobs wait for their time.
INSERT INTO pending (run_at, id) VALUES (?, ?);

-- name: insert_fronts
-- Queued jobs with limits or a rate: each becomes the front of its group if it comes first.
INSERT INTO fronts (limit_group, lane, rank, run_at, id) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (limit_group) DO UPDATE
SET rank = excluded.rank, run_at = excluded.run_at, id = excluded.id
WHERE (excluded.rank, excluded.run_at, excluded.id) < (fronts.rank, fronts.run_at, fronts.id);

-- name: insert_running
-- Jobs that were claimed.
INSERT INTO running (id, limit_group, attempt, fence, node, started_at, guards_for)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: insert_attempts
-- Attempts that ended without completing their job.
INSERT INTO attempts (job, fence, number, node, started_at, ended_at, change, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: delete_old_attempts
-- Delete the attempts of a job up to a fence.
DELETE FROM attempts WHERE job = ? AND fence <= ?;

-- name: count_in_lanes
-- Add to the counts of some lanes, one column for each status.
WITH changed (id, pending, queued, running, completed, failed, cancelled) AS (
    VALUES (?, ?, ?, ?, ?, ?, ?)
)
UPDATE lanes SET
    pending = lanes.pending + changed.pending,
    queued = lanes.queued + changed.queued,
    running = lanes.running + changed.running,
    completed = lanes.completed + changed.completed,
    failed = lanes.failed + changed.failed,
    cancelled = lanes.cancelled + changed.cancelled
FROM changed WHERE lanes.id = changed.id;

-- name: count_in_lane
-- The same for a single lane, the usual case: a quarter of the time.
UPDATE lanes SET
    pending = pending + ?, queued = queued + ?, running = running + ?, completed = completed + ?,
    failed = failed + ?, cancelled = cancelled + ?
WHERE id = ?;

-- name: count_in_groups
-- Add to the number of jobs that some limit groups have.
WITH changed (id, jobs) AS (VALUES (?, ?))
UPDATE limit_groups SET jobs = limit_groups.jobs + changed.jobs
FROM changed WHERE limit_groups.id = changed.id;

-- name: soonest
-- When the next pending job is due.
SELECT run_at FROM pending ORDER BY run_at LIMIT 1;

-- name: guarding_job
-- The newest of the jobs that guard a dedupe key at an instant.
SELECT id FROM jobs WHERE dedupe_digest = ? AND guarded_until > ? ORDER BY id DESC LIMIT 1;

-- name: due_to_queue
-- Pending jobs whose time has come, the earliest first.
SELECT pending.run_at, pending.id, jobs.limit_group, jobs.rank
FROM pending CROSS JOIN jobs ON jobs.id = pending.id
WHERE pending.run_at <= ? ORDER BY pending.run_at, pending.id LIMIT ?;

-- name: delete_pending_through
-- Delete the first pending jobs, up to and including the last one that was promoted.
DELETE FROM pending WHERE (run_at, id) <= (?, ?);

-- name: stale
-- Jobs that have been queued since an instant or longer, the longest first.
SELECT queued.id, lanes.queue, queued.rank
FROM queued
CROSS JOIN limit_groups ON limit_groups.id = queued.limit_group
CROSS JOIN lanes ON lanes.id = limit_groups.lane
WHERE queued.queued_at <= ? ORDER BY queued.queued_at, queued.id LIMIT ?;

-- name: held_by_ids
-- The holds on some jobs.
SELECT id, limit_group, fence, cancel_requested, guards_for FROM running
WHERE id IN (SELECT value FROM json_each(?));

-- name: complete
-- Complete running jobs that have neither a result nor an error.
INSERT INTO finished (
    id, status, finished_at, attempt, fence, node, started_at, progress, guarded_until
)
SELECT
    id, 'completed', :now, attempt, fence, node, started_at, progress, :now + guards_for
FROM running WHERE id IN (SELECT value FROM json_each(:ids));

-- name: held_range
-- What the holds on jobs with consecutive ids have in common.
SELECT count(*), min(limit_group), max(limit_group), min(fence), max(fence), count(guards_for)
FROM running WHERE id BETWEEN ? AND ?;

-- name: complete_range
-- Complete running jobs with consecutive ids.
INSERT INTO finished (id, status, finished_at, attempt, fence, node, started_at, progress)
SELECT id, 'completed', ?, attempt, fence, node, started_at, progress
FROM running WHERE id BETWEEN ? AND ? ORDER BY id;

-- name: delete_running_range
-- End the holds on jobs with consecutive ids.
DELETE FROM running WHERE id BETWEEN ? AND ?;

-- name: finish
-- End running jobs, with what their attempts were.
WITH ended (id, status, finished_at, result, error) AS (VALUES (?, ?, ?, ?, ?))
INSERT INTO finished (
    id, status, finished_at, attempt, fence, node, started_at, result, error, progress,
    guarded_until
)
SELECT
    ended.id, ended.status, ended.finished_at, running.attempt, running.fence, running.node,
    running.started_at, ended.result, ended.error, running.progress,
    ended.finished_at + running.guards_for
FROM ended CROSS JOIN running ON running.id = ended.id;

-- name: guard_keys
-- Jobs that ended keep their dedupe key taken for a while.
UPDATE jobs SET guarded_until = finished.finished_at
    + coalesce(json_extract(jobs.options, '$.dedupe_for'), 86400000000)
FROM finished WHERE finished.id = jobs.id AND jobs.dedupe_digest IS NOT NULL
    AND jobs.id IN (SELECT value FROM json_each(?));

-- name: attempt
-- A running attempt, its job's place in the limit group, the job's last error, and when it expires.
SELECT running.attempt, running.node, running.started_at, jobs.rank, jobs.run_at, jobs.error,
    (SELECT expires_at FROM expiring WHERE expiring.id = running.id)
FROM running JOIN jobs ON jobs.id = running.id WHERE running.id = ?;

-- name: wait_again
-- Let a job wait again after its attempt.
UPDATE jobs SET run_at = ?, attempt = ?, fence = ?, error = ? WHERE id = ?;

-- name: delete_running
-- End the holds on some jobs.
DELETE FROM running WHERE id IN (SELECT value FROM json_each(?));

-- name: state
-- What decides whether a job can be cancelled or reopened.
SELECT jobs.limit_group, jobs.rank, jobs.run_at, finished.status, running.id, pending.id
FROM jobs
LEFT JOIN finished ON finished.id = jobs.id
LEFT JOIN running ON running.id = jobs.id
LEFT JOIN pending ON pending.run_at = jobs.run_at AND pending.id = jobs.id
WHERE jobs.id = ?;

-- name: cancel_waiting
-- End a waiting job as cancelled.
INSERT INTO finished (id, status, finished_at, attempt, fence, error, guarded_until)
SELECT id, 'cancelled', :now, attempt, fence, :reason, :now + guards_for
FROM jobs WHERE id = :id;

-- name: delete_pending
-- Take a pending job from its place.
DELETE FROM pending WHERE run_at = ? AND id = ?;

-- name: delete_queued
-- Take queued jobs from their places.
DELETE FROM queued WHERE (limit_group, rank, run_at, id) IN (VALUES (?, ?, ?, ?));

-- name: delete_queued_through
-- Take the first jobs of a limit group, up to and including a place.
DELETE FROM queued WHERE limit_group = ? AND (rank, run_at, id) <= (?, ?, ?);

-- name: request_cancellation
-- Note that the cancellation of a running job was requested, and why.
UPDATE jobs SET error = ?, cancel_requested = 1 WHERE id = ?;

-- name: request_cancellation_of_holder
-- The same, where the heartbeat of the job's node looks.
UPDATE running SET cancel_requested = 1 WHERE id = ?;

-- name: reopen
-- Make a failed or cancelled job as new, except for its fence, and let it not expire.
UPDATE jobs SET
    options = nullif(json_remove(options, '$.expires'), '{}'),
    run_at = :now, attempt = 0, error = NULL, cancel_requested = 0,
    fence = (SELECT fence FROM finished WHERE finished.id = jobs.id),
    guarded_until = iif(dedupe_digest IS NULL, NULL, :always)
WHERE id = :id;

-- name: delete_finished
-- The job has not ended any more.
DELETE FROM finished WHERE id = ?;
