-- name: insert
-- Create jobs, except those whose dedupe key is taken.
SELECT moment, ids, standing FROM {schema}.insert_jobs($1, $2);

-- name: insert_alike
-- Create jobs that differ only in their arguments and are due now.
SELECT moment, ids FROM {schema}.insert_alike($1, $2, $3, $4, $5, $6, $7);

-- name: insert_one
-- Create one such job, if its lane exists; otherwise there is no row.
WITH lane AS (
    SELECT l.id FROM {schema}.lanes AS l WHERE l.queue = $1 AND l.task = $2
), counted AS (
    INSERT INTO {schema}.tallies (lane, queued) SELECT l.id, 1 FROM lane AS l
)
INSERT INTO {schema}.jobs (
    id, limit_group, lane, rank, run_at, created_at, status, arguments, options
)
SELECT nextval('{schema}.job_ids'), l.id, l.id, $3, m.moment, m.moment, 'queued', $5, $4
FROM lane AS l
CROSS JOIN (SELECT coalesce($6::timestamptz, clock_timestamp()) AS moment OFFSET 0) AS m
RETURNING created_at, ARRAY[id], CASE WHEN $7 THEN pg_notify({channels} || 'jobs', '') END;

-- name: promote
-- Queue pending jobs whose time has come.
SELECT p.id, p.queue, (SELECT j.rank FROM {schema}.jobs AS j WHERE j.id = p.id) AS rank, p.next_at
FROM {schema}.promote_jobs($1, $2) AS p;

-- name: expire
-- End waiting jobs that have expired.
SELECT expired, next_at FROM {schema}.expire_jobs($1, $2);

-- name: take
-- Settle the last batch, then claim the next.
SELECT as_of, try_at, scanned_all, scan_effort, scan_microseconds, verdicts, cancelled, claimed
FROM {schema}.take_jobs($1, $2, $3, $4);

-- name: settle
-- Close each attempt whose hold is current.
SELECT {schema}.settle_attempts($1, $2);

-- name: reap
-- Close the attempts of a dead node.
SELECT alive, verdicts FROM {schema}.reap_attempts($1, $2, $3);

-- name: cancel
-- Cancel waiting jobs, and request the cancellation of running ones.
SELECT {schema}.cancel_jobs($1, $2, $3);

-- name: reopen
-- Queue failed or cancelled jobs again.
SELECT {schema}.reopen_jobs($1, $2);

-- name: stale
-- Jobs that have been queued for so long, the longest first. Used rarely, and only if another queue
-- carries the tickets.
SELECT j.id, l.queue, j.rank,
    (
        SELECT p.run_at FROM {schema}.jobs AS p WHERE p.status = 'pending' ORDER BY p.run_at LIMIT 1
    ) AS next_at
FROM (SELECT) AS always
LEFT JOIN LATERAL (
    SELECT q.id, q.lane, q.rank FROM {schema}.jobs AS q
    WHERE q.status = 'queued' AND coalesce(q.queued_at, q.created_at)
        <= coalesce($1::timestamptz, clock_timestamp()) - $2::bigint * interval '1 microsecond'
    ORDER BY coalesce(q.queued_at, q.created_at), q.id LIMIT $3
) AS j ON true
LEFT JOIN {schema}.lanes AS l ON l.id = j.lane;

-- name: unfinished
-- Unfinished jobs; a condition is appended.
SELECT id, fence, attempt, lane, rank, run_at, created_at, arguments, options, limits, tags,
    schedule, tick_at, status, node, started_at, NULL::timestamptz AS finished_at,
    NULL::bytea AS result, error, progress, cancel_requested
FROM {schema}.jobs;

-- name: finished
-- Finished jobs; a condition is appended.
SELECT id, fence, attempt, lane, rank, run_at, created_at, arguments, options, limits, tags,
    schedule, tick_at, status, node, started_at, finished_at, result, error, progress,
    cancel_requested
FROM {schema}.archive;

-- name: dead_nodes
-- Nodes that hold jobs and whose heartbeat is over or unknown: each is found by one step along the
-- index of running jobs.
WITH RECURSIVE holders AS (
    (
        SELECT node FROM {schema}.jobs WHERE status = 'running' ORDER BY node LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT j.node FROM {schema}.jobs AS j
        WHERE j.status = 'running' AND j.node > h.node ORDER BY j.node LIMIT 1
    )
    FROM holders AS h WHERE h.node IS NOT NULL
)
SELECT h.node FROM holders AS h
WHERE h.node IS NOT NULL AND NOT EXISTS (
    SELECT FROM {schema}.nodes AS n
    WHERE n.id = h.node AND n.expires_at > coalesce($1::timestamptz, clock_timestamp())
);

-- name: attempts
-- The ended attempts of a job.
SELECT number, fence, node, started_at, ended_at, change, error
FROM {schema}.attempts WHERE job = $1
UNION ALL
SELECT attempt, fence, node, started_at, finished_at, 'complete', error
FROM {schema}.archive WHERE id = $1 AND status = 'completed'
ORDER BY fence;

-- name: counts
-- The number of jobs by queue and status, and over how many delta rows it was summed.
SELECT l.queue, sum(t.pending)::bigint AS pending, sum(t.queued)::bigint AS queued,
    sum(t.running)::bigint AS running, sum(t.completed)::bigint AS completed,
    sum(t.failed)::bigint AS failed, sum(t.cancelled)::bigint AS cancelled, count(*) AS deltas
FROM {schema}.tallies AS t JOIN {schema}.lanes AS l ON l.id = t.lane GROUP BY l.queue;

-- name: compact_tallies
-- Replace many delta rows by one for each lane. Every snapshot has the same sum.
WITH taken AS (
    DELETE FROM {schema}.tallies WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {schema}.tallies LIMIT 50000 FOR UPDATE SKIP LOCKED
    ))
    RETURNING *
)
INSERT INTO {schema}.tallies (lane, pending, queued, running, completed, failed, cancelled)
SELECT lane, sum(pending), sum(queued), sum(running), sum(completed), sum(failed), sum(cancelled)
FROM taken GROUP BY lane;

-- name: unknown_tasks
-- Tasks that have queued jobs in some queues and are not among the known. One index probe for each
-- lane and limit group: for an EXISTS the planner would read all jobs.
SELECT DISTINCT l.task FROM {schema}.lanes AS l
WHERE l.queue = ANY ($1) AND l.task <> ALL ($2) AND coalesce(
    (
        SELECT j.id FROM {schema}.jobs AS j WHERE j.limit_group = l.id AND j.status = 'queued'
        ORDER BY j.rank, j.run_at, j.id LIMIT 1
    ), (
        SELECT q.id FROM (
            SELECT g.id FROM {schema}.limit_groups AS g WHERE g.lane = l.id
            UNION ALL
            SELECT a.limit_group FROM {schema}.limit_group_arrivals AS a WHERE a.lane = l.id
        ) AS t (limit_group)
        CROSS JOIN LATERAL (
            SELECT j.id FROM {schema}.jobs AS j
            WHERE j.limit_group = t.limit_group AND j.status = 'queued'
            ORDER BY j.rank, j.run_at, j.id LIMIT 1
        ) AS q
        LIMIT 1
    )
) IS NOT NULL
ORDER BY l.task LIMIT $3;

-- name: lanes
-- All lanes.
SELECT id, queue, task FROM {schema}.lanes;

-- name: now
-- The store's own clock.
SELECT clock_timestamp();

-- name: submit
-- Create jobs within a caller's own transaction. The parameter is marked as most drivers mark it.
SELECT * FROM {schema}.submit_jobs(%s);
