-- name: queues
-- All queues: how many jobs stand where, the earliest queued one, the pause, and what was forgotten;
-- and over how many rows of differences that is summed. The earliest is found by one step along the
-- index for each line and rank, since within these jobs stand by their time.
WITH RECURSIVE heads AS (
    (
        SELECT j.line, j.rank, j.run_at, j.lane FROM {schema}.jobs AS j
        WHERE j.status = 'queued' ORDER BY j.line, j.rank, j.run_at, j.id LIMIT 1
    )
    UNION ALL
    SELECT n.line, n.rank, n.run_at, n.lane FROM heads AS h CROSS JOIN LATERAL (
        SELECT j.line, j.rank, j.run_at, j.lane FROM {schema}.jobs AS j
        WHERE j.status = 'queued' AND (j.line, j.rank) > (h.line, h.rank)
        ORDER BY j.line, j.rank, j.run_at, j.id LIMIT 1
    ) AS n
), oldest AS (
    SELECT l.queue, min(h.run_at) AS run_at
    FROM heads AS h JOIN {schema}.lanes AS l ON l.id = h.lane GROUP BY l.queue
), counts AS (
    SELECT l.queue, sum(t.pending)::bigint AS pending, sum(t.queued)::bigint AS queued,
        sum(t.running)::bigint AS running, sum(t.completed)::bigint AS completed,
        sum(t.failed)::bigint AS failed, sum(t.cancelled)::bigint AS cancelled, count(*) AS rows
    FROM {schema}.tallies AS t JOIN {schema}.lanes AS l ON l.id = t.lane GROUP BY l.queue
)
SELECT coalesce($1::timestamptz, clock_timestamp()), q.queue, o.run_at, p.reason, p.since,
    c.pending, c.queued, c.running, c.completed, c.failed, c.cancelled,
    coalesce(f.completed, 0), coalesce(f.failed, 0), coalesce(f.cancelled, 0), coalesce(c.rows, 0)
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
-- Claim no job of a queue any more.
SELECT because, first FROM {schema}.pause_1($1, $2, $3);

-- name: resume
-- Claim jobs of a queue again.
SELECT because, first FROM {schema}.resume_1($1);
