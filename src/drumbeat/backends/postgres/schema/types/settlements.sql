-- How attempts ended, each group in the order of the jobs' ids. Null arrays: there are none.
CREATE TYPE {schema}.settlements AS (
    -- Jobs that completed at their first claim, with neither result nor note, as nearly all do. They
    -- are the text of an array, '{1,2,3}', which the client encodes much faster than an array.
    plain text,
    -- Other jobs that completed:
    completed bigint[],
    completed_fences integer[],
    results bytea[],
    notes text[],
    -- Attempts that ended in another way:
    ended bigint[],
    ended_fences integer[],
    changes text[],
    delays bigint[], -- microseconds
    outcomes bytea[],
    errors text[]
);

-- The statuses that the jobs have now, by position; null where the hold was not current. For jobs
-- that completed, null in place of the array: all of them did.
CREATE TYPE {schema}.settlement_verdicts AS (
    plain text[],
    completed text[],
    ended text[]
);
