-- name: in_order
-- Read indexes in their order, whatever the planner estimates.
SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off;
SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off;

-- name: page
-- One page of a list, from all its parts, between two ids.
WITH bounds AS MATERIALIZED (SELECT least({high}) AS high, {low} AS low)
{parts} ORDER BY id DESC LIMIT {size};

-- name: largest
-- The largest ids of all arms.
SELECT id FROM ({arms}) AS arms ORDER BY id DESC LIMIT {size};

-- name: created_before
-- An id below which all jobs were created before, with a minute to spare.
{schema}.last_job_before({moment}::timestamptz - interval '1 minute');

-- name: created_after
-- An id from which on all jobs were created after, with a minute to spare.
{schema}.last_job_before({moment}::timestamptz + interval '1 minute') + 1;

-- name: lanes
-- Some lanes.
SELECT id FROM {schema}.lanes WHERE {fits};

-- name: are_waiting
-- Whether there are unfinished jobs of some statuses.
(SELECT sum({counted}) > 0 FROM {schema}.tallies WHERE {fits});

-- name: waiting
-- Unfinished jobs, newest first.
SELECT id FROM {schema}.jobs WHERE {fits} ORDER BY id DESC LIMIT {size};

-- name: running
-- Running jobs: few, all in one index.
SELECT id FROM {schema}.jobs WHERE {fits} OFFSET 0;

-- name: all
-- One page of finished jobs.
(SELECT id FROM {schema}.archive WHERE {fits} ORDER BY id DESC LIMIT {size});

-- name: not_completed
-- One page of the finished jobs of a status, by the index of jobs that did not complete.
(
    SELECT id FROM {schema}.archive
    WHERE status = ANY (ARRAY['{status}']) AND status <> 'completed' AND {fits}
    ORDER BY status DESC, id DESC LIMIT {size}
);

-- name: expired
-- One page of the jobs that have expired.
(
    SELECT id FROM {schema}.archive
    WHERE status = 'cancelled' AND error = 'expired before it could start' AND {fits}
    ORDER BY id DESC LIMIT {size}
);

-- name: skipped
-- One page of the jobs that were skipped because their limit was reached.
(
    SELECT id FROM {schema}.archive
    WHERE status = 'cancelled' AND error = 'skipped because its limit was reached' AND {fits}
    ORDER BY id DESC LIMIT {size}
);

-- name: of_schedule
-- One page of the finished jobs of a schedule and a status.
(
    SELECT id FROM {schema}.archive
    WHERE schedule = ANY (ARRAY[{schedule}::text]) AND schedule IS NOT NULL
        AND status = '{status}' AND {fits}
    ORDER BY schedule DESC, id DESC LIMIT {size}
);

-- name: of_lanes
-- One page of the finished jobs of each of some lanes, with a status.
SELECT found.id FROM ({lanes}) AS wanted (lane) CROSS JOIN LATERAL (
    SELECT id FROM {schema}.archive
    WHERE lane = ANY (ARRAY[wanted.lane]) AND status = '{status}' AND {fits}
    ORDER BY lane DESC, id DESC LIMIT {size}
) AS found;

-- name: of_tag
-- One page of the finished jobs with a tag and a status; the rest of the filter is checked for each.
(
    SELECT t.id FROM {schema}.archive_tags AS t CROSS JOIN LATERAL (
        SELECT FROM {schema}.archive WHERE id = t.id AND {fits} LIMIT 1
    ) AS found
    WHERE t.tag = left({tag}::text, {kept}) AND t.status = '{status}'
        AND t.id < (SELECT high FROM bounds) AND t.id > (SELECT low FROM bounds)
    ORDER BY t.id DESC LIMIT {size}
);
