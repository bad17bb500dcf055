-- What a worker asks for.
CREATE TYPE {schema}.claim_request AS (
    holder text,
    queues text[],
    tasks text[],
    at_once integer, -- how many jobs it can start at once
    ahead integer -- how many more it would hold, of jobs without limits and rate
);

-- Where a claim begins, in each lane and rank, instead of at the start of the index: see
-- `drumbeat.backends.postgres.store.jobs.watermark`.
CREATE TYPE {schema}.claim_marks AS (
    lanes integer[],
    ranks smallint[],
    run_ats timestamptz[],
    ids bigint[],
    suffices boolean -- do not scan from the start if this yields too few jobs
);

-- One claimed job. The first two instants are seconds since 1970, because the client decodes them
-- much faster than timestamps; until the year 2242 a double is exact to the microsecond.
CREATE TYPE {schema}.claimed_job AS (
    id bigint,
    fence integer,
    attempt integer,
    lane integer,
    rank smallint,
    run_at double precision,
    created_at double precision,
    arguments bytea,
    options text,
    limits text,
    tags text[],
    schedule text,
    tick_at timestamptz
);
