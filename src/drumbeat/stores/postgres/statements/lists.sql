-- name: in_order
-- For a list: what an index has in order is read in that order, whatever the server takes it for.
SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off;
SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off;

-- name: page
-- One page of a list, of the parts that it may come from, between two numbers.
WITH bounds AS MATERIALIZED (SELECT least({high}) AS high, {low} AS low)
{parts} ORDER BY id DESC LIMIT {size};

-- name: largest
-- The largest numbers of all arms.
SELECT id FROM ({arms}) AS arms ORDER BY id DESC LIMIT {size};

-- name: created_before
-- A number below which all were created before, but for a minute.
{schema}.number_at_1({moment}::timestamptz - interval '1 minute');

-- name: created_after
-- A number from which on all were created after, but for a minute.
{schema}.number_at_1({moment}::timestamptz + interval '1 minute') + 1;

-- name: lanes
-- Some lanes.
SELECT id FROM {schema}.lanes WHERE {fits};

-- name: are_waiting
-- Whether there are unfinished jobs that stand so.
(SELECT sum({counted}) > 0 FROM {schema}.tallies WHERE {fits});

-- name: waiting
-- Unfinished jobs, newest first.
SELECT id FROM {schema}.jobs WHERE {fits} ORDER BY id DESC LIMIT {size};

-- name: running
-- Running jobs: an index has them all, and they are few.
SELECT id FROM {schema}.jobs WHERE {fits} OFFSET 0;

-- name: all
-- One page of finished jobs.
(SELECT id FROM {schema}.archive WHERE {fits} ORDER BY id DESC LIMIT {size});

-- name: ended_badly
-- One page of the finished jobs of a status, by the index of all that did not complete.
(
    SELECT id FROM {schema}.archive
    WHERE status = ANY (ARRAY['{status}']) AND status <> 'completed' AND {fits}
    ORDER BY status DESC, id DESC LIMIT {size}
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
-- One page of the finished jobs with a tag and a status; each is looked up for what else is asked.
(
    SELECT t.id FROM {schema}.archive_tags AS t CROSS JOIN LATERAL (
        SELECT FROM {schema}.archive WHERE id = t.id AND {fits} LIMIT 1
    ) AS found
    WHERE t.tag = left({tag}::text, {kept}) AND t.status = '{status}'
        AND t.id < (SELECT high FROM bounds) AND t.id > (SELECT low FROM bounds)
    ORDER BY t.id DESC LIMIT {size}
);
