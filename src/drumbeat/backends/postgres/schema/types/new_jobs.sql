-- Jobs to create. What jobs have in common is sent once, as a kind. An array of one value stands
-- for all kinds or all jobs; a null array means that none of them has a value.
CREATE TYPE {schema}.new_jobs AS (
    size integer,
    -- By kind:
    queues text[],
    tasks text[],
    ranks smallint[],
    options text[],
    limits text[],
    -- By job:
    kinds integer[], -- counted from 1
    arguments bytea[],
    dedupe_keys text[],
    schedules text[],
    ticks timestamptz[],
    tags text[] -- a JSON array for each job
);
