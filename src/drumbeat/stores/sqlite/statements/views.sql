-- name: jobs
-- Jobs as they stand; %s stands for the rest of the question.
SELECT
    jobs.rank, jobs.run_at, jobs.id, jobs.line, jobs.created_at,
    coalesce(finished.attempt, running.attempt, jobs.attempt),
    coalesce(finished.fence, running.fence, jobs.fence),
    jobs.asked_at, jobs.delay, jobs.arguments, jobs.options, jobs.tags, jobs.dedupe_key,
    jobs.dedupe_for, jobs.schedule, jobs.tick_at,
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

-- name: held
-- Running attempts; %s stands for whose.
SELECT
    jobs.rank, jobs.run_at, jobs.id, jobs.line, jobs.created_at, running.attempt, running.fence,
    jobs.asked_at, jobs.delay, jobs.arguments, jobs.options, jobs.tags, jobs.dedupe_key,
    jobs.dedupe_for, jobs.schedule, jobs.tick_at, running.node, running.started_at
FROM running CROSS JOIN jobs ON jobs.id = running.id %s;

-- name: attempts
-- The attempts of a job that ended, but for one that completed it.
SELECT number, fence, node, started_at, ended_at, change, error
FROM attempts WHERE job = ? ORDER BY fence;

-- name: completion
-- The attempt that completed a job.
SELECT attempt, fence, node, started_at, finished_at, error
FROM finished WHERE id = ? AND status = 'completed';

-- name: counts
-- How many jobs of each queue stand where.
SELECT queue, sum(pending), sum(queued), sum(running), sum(completed), sum(failed), sum(cancelled)
FROM lanes GROUP BY queue;

-- name: unknown_tasks
-- Tasks that wait in some queues and are not among the known.
SELECT DISTINCT task FROM lanes
WHERE queued > 0
    AND queue IN (SELECT value FROM json_each(?))
    AND task NOT IN (SELECT value FROM json_each(?))
ORDER BY task LIMIT ?;

-- name: ended
-- One page of those that ended so; %s stands for how.
SELECT id FROM (
    SELECT id FROM finished WHERE status = '%s' AND id < :high AND id > :low
    ORDER BY id DESC LIMIT :limit
);

-- name: newest
-- The number of the newest job.
SELECT max(id) FROM jobs;

-- name: created_from_on
-- The first job from a number on, and when it was created.
SELECT id, created_at FROM jobs WHERE id >= ? ORDER BY id LIMIT 1;
