-- name: jobs
-- Jobs with their status; %s stands for the condition and the order.
SELECT
    jobs.rank, jobs.run_at, jobs.id, jobs.limit_group, jobs.created_at,
    coalesce(finished.attempt, running.attempt, jobs.attempt),
    coalesce(finished.fence, running.fence, jobs.fence),
    jobs.arguments, jobs.options, jobs.tags, jobs.schedule, jobs.tick_at,
    CASE
        WHEN finished.id IS NOT NULL THEN finished.status
        WHEN running.id IS NOT NULL THEN 'running'
        WHEN pending.id IS NOT NULL THEN 'pending'
        ELSE 'queued'
    END,
    coalesce(finished.node, running.node), coalesce(finished.started_at, running.started_at),
    finished.finished_at, finished.result,
    iif(finished.id IS NULL, jobs.error, finished.error),
    coalesce(finished.progress, running.progress),
    jobs.cancel_requested
FROM jobs
LEFT JOIN finished ON finished.id = jobs.id
LEFT JOIN running ON running.id = jobs.id
LEFT JOIN pending ON pending.run_at = jobs.run_at AND pending.id = jobs.id
WHERE %s;

-- name: held_by
-- The jobs that a node holds.
SELECT id FROM running WHERE node = ?;

-- name: lost
-- Running jobs whose node is unknown, or whose heartbeat is over.
SELECT running.id FROM running LEFT JOIN nodes ON nodes.id = running.node
WHERE nodes.id IS NULL OR nodes.expires_at <= ? ORDER BY running.id LIMIT ?;

-- name: attempts
-- The ended attempts of a job, oldest first. `finished` has the one that completed it.
SELECT number, fence, node, started_at, ended_at, change, error FROM attempts WHERE job = :job
UNION ALL
SELECT attempt, fence, node, started_at, finished_at, 'complete', error
FROM finished WHERE id = :job AND status = 'completed'
ORDER BY 2;

-- name: counts
-- How many jobs of each queue have each status.
SELECT queue, sum(pending), sum(queued), sum(running), sum(completed), sum(failed), sum(cancelled)
FROM lanes GROUP BY queue;

-- name: waiting
-- How many jobs wait for their time, and how many for a worker; %s stands for their lanes.
SELECT coalesce(sum(pending), 0), coalesce(sum(queued), 0) FROM lanes WHERE %s;

-- name: unknown_tasks
-- Tasks with queued jobs in some queues that are not among the known ones.
SELECT DISTINCT task FROM lanes
WHERE queued > 0
    AND queue IN (SELECT value FROM json_each(?))
    AND task NOT IN (SELECT value FROM json_each(?))
ORDER BY task LIMIT ?;

-- name: ended
-- One page of the jobs that ended with a status, which %s stands for.
SELECT id FROM (
    SELECT id FROM finished WHERE status = '%s' AND id < :high AND id > :low
    ORDER BY id DESC LIMIT :limit
);

-- name: expired
-- Jobs that have expired, newest first.
SELECT id FROM finished
WHERE status = 'cancelled' AND error = 'expired before it could start' AND id < :high AND id > :low;

-- name: skipped
-- Jobs that were skipped, newest first.
SELECT id FROM finished
WHERE status = 'cancelled' AND error = 'skipped because its limit was reached'
    AND id < :high AND id > :low;

-- name: newest
-- The id of the newest job.
SELECT max(id) FROM jobs;

-- name: created_from_on
-- The first job from an id on, and when it was created.
SELECT id, created_at FROM jobs WHERE id >= ? ORDER BY id LIMIT 1;
