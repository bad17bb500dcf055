-- name: insert
-- Create jobs, but for those whose dedupe key is taken.
SELECT moment, ids, standing FROM {schema}.insert_1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15
);

-- name: insert_alike
-- Create jobs that differ in nothing but their arguments and are due now.
SELECT moment, ids FROM {schema}.insert_alike_2($1, $2, $3, $4, $5, $6, $7);

-- name: insert_one
-- The same for one, if its lane is known: else there is no row, and `insert_first` makes the lane.
WITH lane AS (
    SELECT l.id FROM {schema}.lanes AS l WHERE l.queue = $1 AND l.task = $2
), counted AS (
    INSERT INTO {schema}.tallies (lane, queued) SELECT l.id, 1 FROM lane AS l
)
INSERT INTO {schema}.jobs (id, line, lane, rank, run_at, created_at, status, arguments, options)
SELECT nextval('{schema}.job_ids'), l.id, l.id, $3, m.moment, m.moment, 'queued', $5, $4
FROM lane AS l
CROSS JOIN (SELECT coalesce($6::timestamptz, clock_timestamp()) AS moment OFFSET 0) AS m
RETURNING created_at, ARRAY[id], CASE WHEN $7 THEN pg_notify({channels} || 'jobs', '') END;

-- name: insert_first
-- The same, whether or not its lane is known.
SELECT moment, ARRAY[number] FROM {schema}.insert_one_1($1, $2, $3, $4, $5, $6, $7);

-- name: promote
-- Queue pending jobs whose time has come.
SELECT id, queue, next_at FROM {schema}.promote_1($1, $2);

-- name: take
-- Settle the last batch, then claim the next.
SELECT * FROM {schema}.take_2(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
    $21, $22
);

-- name: settle
-- Close each attempt whose hold is current.
SELECT plain_verdicts, done_verdicts, verdicts FROM {schema}.settle_2(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
);

-- name: reap
-- Close the attempts of a node that is dead.
SELECT lives, plain_verdicts, done_verdicts, verdicts FROM {schema}.reap_1(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
);

-- name: cancel
-- End waiting jobs as cancelled; mark running ones.
SELECT {schema}.cancel_1($1, $2, $3);

-- name: reopen
-- Queue failed or cancelled jobs again.
SELECT {schema}.reopen_1($1, $2);

-- name: stale
-- Jobs that have been queued for so long, the longest first. Asked once in a while, and only where
-- another queue carries the tickets.
SELECT j.id, l.queue,
    (SELECT p.run_at FROM {schema}.jobs AS p WHERE p.status = 'pending' ORDER BY p.run_at LIMIT 1)
FROM (SELECT) AS always
LEFT JOIN LATERAL (
    SELECT q.id, q.lane FROM {schema}.jobs AS q
    WHERE q.status = 'queued' AND coalesce(q.queued_at, q.created_at)
        <= coalesce($1::timestamptz, clock_timestamp()) - $2::bigint * interval '1 microsecond'
    ORDER BY coalesce(q.queued_at, q.created_at), q.id LIMIT $3
) AS j ON true
LEFT JOIN {schema}.lanes AS l ON l.id = j.lane;

-- name: unfinished
-- Jobs of the hot table as they stand; what follows is which.
SELECT id, fence, attempt, lane, rank, run_at, created_at, arguments, options, terms, asked_at,
    delay, tags, dedupe_key, dedupe_for, schedule, tick_at, status, node, started_at,
    NULL::timestamptz AS finished_at, NULL::bytea AS result, error, progress, cancel_requested
FROM {schema}.jobs;

-- name: finished
-- Jobs of the archive as they ended; what follows is which.
SELECT id, fence, attempt, lane, rank, run_at, created_at, arguments, options, terms, asked_at,
    delay, tags, dedupe_key, dedupe_for, schedule, tick_at, status, node, started_at, finished_at,
    result, error, progress, cancel_requested
FROM {schema}.archive;

-- name: dead_nodes
-- The nodes that hold jobs and whose heartbeat is over, or unknown: each is found by one step along
-- the index of those that run.
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
-- The attempts of a job that ended, but for one that completed it.
SELECT number, fence, node, started_at, ended_at, change, error
FROM {schema}.attempts WHERE job = $1
UNION ALL
SELECT attempt, fence, node, started_at, finished_at, 'complete', error
FROM {schema}.archive WHERE id = $1 AND status = 'completed'
ORDER BY fence;

-- name: counts
-- How many jobs of each queue stand where, and of how many rows that is the sum.
SELECT l.queue, sum(t.pending)::bigint, sum(t.queued)::bigint, sum(t.running)::bigint,
    sum(t.completed)::bigint, sum(t.failed)::bigint, sum(t.cancelled)::bigint, count(*)
FROM {schema}.tallies AS t JOIN {schema}.lanes AS l ON l.id = t.lane GROUP BY l.queue;

-- name: fold_tallies
-- Many rows of differences become one for each lane. The sum stays what it was at every moment.
WITH taken AS (
    DELETE FROM {schema}.tallies WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM {schema}.tallies LIMIT 50000 FOR UPDATE SKIP LOCKED
    ))
    RETURNING *
)
INSERT INTO {schema}.tallies
SELECT lane, sum(pending), sum(queued), sum(running), sum(completed), sum(failed), sum(cancelled)
FROM taken GROUP BY lane;

-- name: unknown_tasks
-- Tasks that wait in some queues and are not among the known. One probe for each lane and line, in
-- the order of the index: an EXISTS would be answered by reading all jobs.
SELECT DISTINCT l.task FROM {schema}.lanes AS l
WHERE l.queue = ANY ($1) AND l.task <> ALL ($2) AND coalesce(
    (
        SELECT j.id FROM {schema}.jobs AS j WHERE j.line = l.id AND j.status = 'queued'
        ORDER BY j.rank, j.run_at, j.id LIMIT 1
    ), (
        SELECT q.id FROM (
            SELECT f.line FROM {schema}.fronts AS f WHERE f.lane = l.id
            UNION ALL
            SELECT a.line FROM {schema}.arrivals AS a WHERE a.lane = l.id
        ) AS t
        CROSS JOIN LATERAL (
            SELECT j.id FROM {schema}.jobs AS j
            WHERE j.line = t.line AND j.status = 'queued'
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
-- Create jobs within a caller's own transaction; the one parameter has the mark of most drivers.
SELECT * FROM {schema}.submit_1(%s);
