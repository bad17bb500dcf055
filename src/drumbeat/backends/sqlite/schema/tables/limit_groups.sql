-- A lane is one task in one queue. It counts its jobs by status, so that no query has to.
CREATE TABLE lanes (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    task TEXT NOT NULL,
    pending INTEGER NOT NULL DEFAULT 0,
    queued INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    UNIQUE (queue, task)
) STRICT;

-- A limit group is the jobs of one lane that share their limits and their rate: if its first job
-- may not start, none may. The group without limits and rate has the id of its lane.
CREATE TABLE limit_groups (
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    limits TEXT NOT NULL, -- JSON; empty: none
    rate TEXT NOT NULL, -- JSON; empty: none
    jobs INTEGER NOT NULL DEFAULT 0, -- how many jobs are in it, if it has limits or a rate
    UNIQUE (lane, limits, rate)
) STRICT;

-- Groups that pruning may delete.
CREATE INDEX limit_groups_unused ON limit_groups (id) WHERE jobs = 0 AND id <> lane;

-- The first queued job of each group with limits or a rate. It is never behind the first job, but
-- that job may have left. A claim looks once at each group that is not parked.
CREATE TABLE fronts (
    limit_group INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    parked TEXT, -- what blocks it: a limit's key or a rate; null: nothing that is known
    at_most INTEGER NOT NULL DEFAULT 0 -- how many that limit allows
) STRICT;

CREATE INDEX fronts_open ON fronts (lane, rank, run_at, id) WHERE parked IS NULL;
CREATE INDEX fronts_parked ON fronts (parked, lane, at_most, rank, run_at, id)
WHERE parked IS NOT NULL;

-- How many jobs run under each limit's key. A key without a row: none.
CREATE TABLE limit_usage (
    key TEXT PRIMARY KEY,
    running INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The recent starts under each rate's key.
CREATE TABLE rate_starts (
    key TEXT PRIMARY KEY,
    starts TEXT NOT NULL, -- JSON: the instants, how many at each, and for how long they are kept
    outdated_at INTEGER NOT NULL -- from then on no rate needs them
) STRICT, WITHOUT ROWID;

-- When a claim looks again at the groups of a lane that are parked for a rate.
CREATE TABLE openings (
    lane INTEGER NOT NULL,
    parked TEXT NOT NULL,
    opens_at INTEGER NOT NULL,
    PRIMARY KEY (lane, parked)
) STRICT, WITHOUT ROWID;
