-- name: counters
-- The last numbers given out, and whether anything is held up by limits, by rates or by a pause.
SELECT job, tick, line, generation,
    EXISTS (SELECT 1 FROM fronts), EXISTS (SELECT 1 FROM openings),
    EXISTS (SELECT 1 FROM paused_queues)
FROM counters;

-- name: keep_counters
-- Numbers that were given out are not given out again.
UPDATE counters SET job = ?, tick = ?, line = ?, generation = ?;

-- name: lanes_after
-- Lanes that were made since the last look.
SELECT id, queue, task FROM lanes WHERE id > ? ORDER BY id;

-- name: lane
-- The lane of a task in a queue.
SELECT id FROM lanes WHERE queue = ? AND task = ?;

-- name: make_lane
-- A task's first job in a queue.
INSERT INTO lanes (id, queue, task) VALUES (?, ?, ?);

-- name: line
-- The line of a lane with these limits and this rate.
SELECT id FROM lines WHERE lane = ? AND limits = ? AND rate = ?;

-- name: lines_by_kind
-- The lines of some lanes with these limits and rates, by their places in the question.
WITH wanted (place, lane, limits, rate) AS (VALUES (?, ?, ?, ?))
SELECT wanted.place, lines.id
FROM wanted CROSS JOIN lines
ON lines.lane = wanted.lane AND lines.limits = wanted.limits AND lines.rate = wanted.rate;

-- name: make_line
-- The first job of a lane with these limits and this rate.
INSERT INTO lines (id, lane, limits, rate) VALUES (?, ?, ?, ?);

-- name: line_by_id
-- What the jobs of a line have in common.
SELECT lines.id, lines.lane, lanes.queue, lanes.task, lines.limits, lines.rate
FROM lines JOIN lanes ON lanes.id = lines.lane WHERE lines.id = ?;

-- name: lines_by_id
-- What the jobs of some lines have in common.
SELECT lines.id, lines.lane, lanes.queue, lanes.task, lines.limits, lines.rate
FROM lines JOIN lanes ON lanes.id = lines.lane
WHERE lines.id IN (SELECT value FROM json_each(?));

-- name: insert_plain_jobs
-- New jobs of the usual kind. What is not named here has its default: a third of the columns is a
-- third of the time.
INSERT INTO jobs (id, line, rank, run_at, created_at, arguments, options)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: insert_alike_jobs
-- The same where only number and arguments differ: line, rank, both instants and options come once.
INSERT INTO jobs (id, line, rank, run_at, created_at, options, arguments)
SELECT column1, ?, ?, ?, ?, ?, column2 FROM (VALUES (?, ?));

-- name: insert_ticked_jobs
-- New jobs of schedules, or with a time of their own.
INSERT INTO jobs (
    id, line, rank, run_at, created_at, arguments, options, schedule, tick_at, asked_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_jobs
-- New jobs of any kind.
INSERT INTO jobs (
    id, line, rank, run_at, created_at, arguments, options, schedule, tick_at, asked_at, delay,
    tags, dedupe_key, dedupe_for, guarded_until
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_queued
-- Jobs that may run from now on.
INSERT INTO queued (line, rank, run_at, id, queued_at) VALUES (?, ?, ?, ?, ?);

-- name: queue_new
-- The same for jobs of the usual kind that were just made: the file has all that is needed.
INSERT INTO queued (line, rank, run_at, id, queued_at)
SELECT line, rank, run_at, id, created_at FROM jobs WHERE id BETWEEN ? AND ? ORDER BY id;

-- name: insert_pending
-- Jobs that wait for their time.
INSERT INTO pending (run_at, id) VALUES (?, ?);

-- name: insert_fronts
-- Queued jobs with limits or a rate: each comes to the front if it is the first of its line.
INSERT INTO fronts (line, lane, rank, run_at, id) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (line) DO UPDATE
SET rank = excluded.rank, run_at = excluded.run_at, id = excluded.id
WHERE (excluded.rank, excluded.run_at, excluded.id) < (fronts.rank, fronts.run_at, fronts.id);

-- name: insert_running
-- Jobs that were claimed.
INSERT INTO running (id, line, attempt, fence, node, started_at, guards_for)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: insert_attempts
-- Attempts that ended otherwise than by completing their job.
INSERT INTO attempts (job, fence, number, node, started_at, ended_at, change, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: forget_attempts
-- Keep the last hundred attempts of a job.
DELETE FROM attempts WHERE job = ? AND fence <= ?;

-- name: count_in_lanes
-- How many jobs of a lane came to stand where, in the order of the columns, and left there.
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
-- The same for one lane, as it mostly is: a quarter of the time.
UPDATE lanes SET
    pending = pending + ?, queued = queued + ?, running = running + ?, completed = completed + ?,
    failed = failed + ?, cancelled = cancelled + ?
WHERE id = ?;

-- name: count_in_lines
-- How many jobs came to name a line, or were forgotten.
WITH changed (id, jobs) AS (VALUES (?, ?))
UPDATE lines SET jobs = lines.jobs + changed.jobs FROM changed WHERE lines.id = changed.id;

-- name: soonest
-- When the next pending job is due.
SELECT run_at FROM pending ORDER BY run_at LIMIT 1;

-- name: standing
-- The newest of the jobs that stand for a dedupe key.
SELECT id FROM jobs WHERE dedupe_key = ? AND guarded_until > ? ORDER BY id DESC LIMIT 1;

-- name: due_to_queue
-- Pending jobs whose time has come, the earliest first.
SELECT pending.run_at, pending.id, jobs.line, jobs.rank
FROM pending CROSS JOIN jobs ON jobs.id = pending.id
WHERE pending.run_at <= ? ORDER BY pending.run_at, pending.id LIMIT ?;

-- name: delete_pending_through
-- Pending jobs that were promoted: the first ones, up to and with the last of them.
DELETE FROM pending WHERE (run_at, id) <= (?, ?);

-- name: stale
-- Jobs that have been queued since then, the longest first.
SELECT queued.id, lanes.queue
FROM queued CROSS JOIN lines ON lines.id = queued.line CROSS JOIN lanes ON lanes.id = lines.lane
WHERE queued.queued_at <= ? ORDER BY queued.queued_at, queued.id LIMIT ?;

-- name: held_by_ids
-- The holds on some jobs.
SELECT id, line, fence, cancel_requested, guards_for FROM running
WHERE id IN (SELECT value FROM json_each(?));

-- name: complete
-- Jobs that complete with the attempt that is running, and have no more to say.
INSERT INTO finished (
    id, status, finished_at, attempt, fence, node, started_at, progress, guarded_until
)
SELECT
    id, 'completed', :now, attempt, fence, node, started_at, progress, :now + guards_for
FROM running WHERE id IN (SELECT value FROM json_each(:ids));

-- name: held_together
-- What the holds on jobs whose numbers follow each other have in common.
SELECT count(*), min(line), max(line), min(fence), max(fence), count(guards_for)
FROM running WHERE id BETWEEN ? AND ?;

-- name: complete_together
-- The same for jobs whose numbers follow each other.
INSERT INTO finished (id, status, finished_at, attempt, fence, node, started_at, progress)
SELECT id, 'completed', ?, attempt, fence, node, started_at, progress
FROM running WHERE id BETWEEN ? AND ? ORDER BY id;

-- name: delete_running_together
-- The same for jobs whose numbers follow each other.
DELETE FROM running WHERE id BETWEEN ? AND ?;

-- name: finish
-- Jobs that end with the attempt that is running: what it was goes with them.
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
-- Jobs that ended stand for their dedupe key for a while.
UPDATE jobs SET guarded_until = finished.guarded_until
FROM finished WHERE finished.id = jobs.id AND jobs.id IN (SELECT value FROM json_each(?));

-- name: attempt
-- A running attempt, where its job stands in its line, and what was said of it last.
SELECT running.attempt, running.node, running.started_at, jobs.rank, jobs.run_at, jobs.error
FROM running JOIN jobs ON jobs.id = running.id WHERE running.id = ?;

-- name: let_wait
-- A job whose attempt ended waits again.
UPDATE jobs SET run_at = ?, attempt = ?, fence = ?, error = ? WHERE id = ?;

-- name: delete_running
-- Holds that are over.
DELETE FROM running WHERE id IN (SELECT value FROM json_each(?));

-- name: standing_of
-- All that decides whether a job can be cancelled or reopened.
SELECT jobs.line, jobs.rank, jobs.run_at, finished.status, running.id, pending.id
FROM jobs
LEFT JOIN finished ON finished.id = jobs.id
LEFT JOIN running ON running.id = jobs.id
LEFT JOIN pending ON pending.run_at = jobs.run_at AND pending.id = jobs.id
WHERE jobs.id = ?;

-- name: finish_waiting
-- A job that was waiting is cancelled.
INSERT INTO finished (id, status, finished_at, attempt, fence, error, guarded_until)
SELECT
    id, 'cancelled', :now, attempt, fence, :reason,
    iif(dedupe_key IS NULL, NULL, :now + coalesce(dedupe_for, 86400000000))
FROM jobs WHERE id = :id;

-- name: delete_pending
-- A pending job leaves its place.
DELETE FROM pending WHERE run_at = ? AND id = ?;

-- name: delete_queued
-- Queued jobs leave their places.
DELETE FROM queued WHERE (line, rank, run_at, id) IN (VALUES (?, ?, ?, ?));

-- name: delete_queued_through
-- Queued jobs leave their line: the first ones, up to and with the last of them.
DELETE FROM queued WHERE line = ? AND (rank, run_at, id) <= (?, ?, ?);

-- name: ask_to_cancel
-- The cancellation of a running job was asked for, and why.
UPDATE jobs SET error = ?, cancel_requested = 1 WHERE id = ?;

-- name: ask_holder_to_cancel
-- The same, where the heartbeat of its node looks.
UPDATE running SET cancel_requested = 1 WHERE id = ?;

-- name: reopen
-- A failed or cancelled job is as new, but for its fence.
UPDATE jobs SET
    run_at = :now, attempt = 0, error = NULL, cancel_requested = 0,
    fence = (SELECT fence FROM finished WHERE finished.id = jobs.id),
    guarded_until = iif(dedupe_key IS NULL, NULL, :always)
WHERE id = :id;

-- name: delete_finished
-- And no longer finished.
DELETE FROM finished WHERE id = ?;
