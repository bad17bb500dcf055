-- Limits and rates. One transaction at a time writes these tables, see `lock_limits`, except
-- `limit_group_arrivals`: whoever queues a job with limits appends to it without that lock.

CREATE TABLE {schema}.limit_group_arrivals (
    limit_group bigint NOT NULL,
    lane integer NOT NULL,
    limits text NOT NULL,
    rank smallint NOT NULL,
    run_at timestamptz NOT NULL,
    job bigint NOT NULL
);

CREATE INDEX limit_group_arrivals_by_lane ON {schema}.limit_group_arrivals (lane);

-- The limit groups that have queued jobs, each with its first job: the row may name a job before it
-- that has left, never one behind it. A claim looks at the groups that wait for nothing.
CREATE TABLE {schema}.limit_groups (
    id bigint PRIMARY KEY,
    lane integer NOT NULL,
    rank smallint NOT NULL, -- of its first job, as the next two
    run_at timestamptz NOT NULL,
    job bigint NOT NULL,
    waits_for text COLLATE "C", -- `limit:KEY` or the rate; null: nothing that is known
    at_most integer NOT NULL DEFAULT 0, -- how many jobs that limit allows
    limit_keys text[] NOT NULL, -- its limits: their keys,
    allowed integer[] NOT NULL, -- how many jobs may run under each,
    cancels boolean[] NOT NULL, -- and whether a job is cancelled when the limit is reached
    rate text COLLATE "C", -- its rate as `rate:JSON`; null: none
    rate_key text,
    rate_at_most bigint,
    rate_per bigint -- microseconds
);

CREATE INDEX limit_groups_open ON {schema}.limit_groups (rank, run_at, job)
    WHERE waits_for IS NULL;
CREATE INDEX limit_groups_waiting
    ON {schema}.limit_groups (waits_for, lane, at_most, rank, run_at, job)
    WHERE waits_for IS NOT NULL;
CREATE INDEX limit_groups_by_lane ON {schema}.limit_groups (lane);

-- How many jobs run under the key of a limit; no row: none.
CREATE TABLE {schema}.limit_usage (
    key text COLLATE "C" PRIMARY KEY,
    running integer NOT NULL
);

-- The recent starts under the key of a rate, see `drumbeat.rules.rate_window`.
CREATE TABLE {schema}.rate_starts (
    key text COLLATE "C" PRIMARY KEY,
    times timestamptz[] NOT NULL, -- oldest first
    counts integer[] NOT NULL, -- how many jobs started at each time
    kept_for bigint NOT NULL, -- microseconds: the longest period of the rates that use the key
    outdated_at timestamptz NOT NULL -- from then on no rate counts them
) WITH (fillfactor = 30); -- each start rewrites its row, which then stays in its page

-- An opening: when the groups of a lane that wait for a rate are looked at again.
CREATE TABLE {schema}.rate_openings (
    lane integer NOT NULL,
    rate text COLLATE "C" NOT NULL, -- as in `limit_groups`
    rate_per bigint NOT NULL,
    opens_at timestamptz NOT NULL,
    PRIMARY KEY (lane, rate)
);
