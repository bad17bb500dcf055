-- name: queues
-- All queues: their jobs by status, the earliest queued one, the pause, and how many jobs were pruned;
-- and over how many delta rows that was summed. The earliest job is found by one step along the index
-- for each limit group and rank, in which jobs are ordered by their time.
WITH RECURSIVE heads AS (
    (
        SELECT j.limit_group, j.rank, j.run_at, j.lane FROM {schema}.jobs AS j
        WHERE j.status = 'queued' ORDER BY j.limit_group, j.rank, j.run_at, j.id LIMIT 1
    )
    UNION ALL
    SELECT n.limit_group, n.rank, n.run_at, n.lane FROM heads AS h CROSS JOIN LATERAL (
        SELECT j.limit_group, j.rank, j.run_at, j.lane FROM {schema}.jobs AS j
        WHERE j.status = 'queued' AND (j.limit_group, j.rank) > (h.limit_group, h.rank)
        ORDER BY j.limit_group, j.rank, j.run_at, j.id LIMIT 1
    ) AS n
), oldest AS (
    SELECT l.queue, min(h.run_at) AS run_at
    FROM heads AS h JOIN {schema}.lanes AS l ON l.id = h.lane GROUP BY l.queue
), counts AS (
    SELECT l.queue, sum(t.pending)::bigint AS pending, sum(t.queued)::bigint AS queued,
        sum(t.running)::bigint AS running, sum(t.completed)::bigint AS completed,
        sum(t.failed)::bigint AS failed, sum(t.cancelled)::bigint AS cancelled, count(*) AS deltas
    FROM {schema}.tallies AS t JOIN {schema}.lanes AS l ON l.id = t.lane GROUP BY l.queue
)
SELECT coalesce($1::timestamptz, clock_timestamp()) AS as_of, q.queue, o.run_at AS oldest_at,
    p.reason, p.since, c.pending, c.queued, c.running, c.completed, c.failed, c.cancelled,
    coalesce(f.completed, 0) AS forgotten_completed, coalesce(f.failed, 0) AS forgotten_failed,
    coalesce(f.cancelled, 0) AS forgotten_cancelled, coalesce(c.deltas, 0) AS deltas
FROM (SELECT) AS always
LEFT JOIN (
    SELECT queue FROM counts UNION SELECT queue FROM {schema}.paused_queues
    UNION SELECT queue FROM {schema}.forgotten_jobs
) AS q ON true
LEFT JOIN counts AS c ON c.queue = q.queue
LEFT JOIN oldest AS o ON o.queue = q.queue
LEFT JOIN {schema}.paused_queues AS p ON p.queue = q.queue
LEFT JOIN {schema}.forgotten_jobs AS f ON f.queue = q.queue
ORDER BY q.queue;

-- name: pause
-- Claim no more jobs of a queue.
SELECT reason, since FROM {schema}.pause_queue($1, $2, $3);

-- name: resume
-- Claim jobs of a queue again.
SELECT reason, since FROM {schema}.resume_queue($1);
