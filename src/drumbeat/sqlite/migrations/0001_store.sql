-- The store: schedules, ledger, jobs, nodes, fence.
--
-- Instants and lengths of time are whole microseconds. What is nullable says what null means.

-- Who this file is: its domain among all files that ever were, and the namespace that it holds.
CREATE TABLE identity (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The last numbers given out, in the one row. None is ever given out again.
CREATE TABLE counters (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    job INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    line INTEGER NOT NULL,
    generation INTEGER NOT NULL -- rises when lines are forgotten: numbers kept in memory are void
) STRICT;

INSERT INTO counters VALUES (1, 0, 0, 0, 0);

-- A lane is a task in a queue. It counts its jobs by status, so that nobody has to.
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

-- A line is the jobs of a lane that share their limits and their rate: if its first may not start,
-- none may. The line without limits has the number of its lane.
CREATE TABLE lines (
    id INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    limits TEXT NOT NULL, -- JSON; empty: none
    rate TEXT NOT NULL, -- JSON; empty: none
    jobs INTEGER NOT NULL DEFAULT 0, -- how many name it, if it has limits or a rate
    UNIQUE (lane, limits, rate)
) STRICT;

-- Every job, from its insertion until it is forgotten. Where it stands is said by the one of
-- `pending`, `queued`, `running` and `finished` that has it; the job itself is hardly ever rewritten.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    line INTEGER NOT NULL,
    rank INTEGER NOT NULL, -- its priority, negated: smaller comes first
    run_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    asked_at INTEGER, -- the time that was asked for; null: none
    delay INTEGER, -- null: none
    arguments BLOB NOT NULL,
    options TEXT, -- JSON: retry and time-out; null: the defaults
    tags TEXT, -- JSON; null: none
    dedupe_key TEXT,
    dedupe_for INTEGER, -- null: the default
    guarded_until INTEGER, -- when its dedupe key is free again; null: it is
    schedule TEXT,
    tick_at INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    error TEXT, -- of its last attempt, or why its cancellation was asked for
    cancel_requested INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX jobs_by_key ON jobs (dedupe_key, guarded_until) WHERE guarded_until IS NOT NULL;
CREATE INDEX jobs_by_schedule ON jobs (schedule, id) WHERE schedule IS NOT NULL;

-- Jobs that wait for their time.
CREATE TABLE pending (
    run_at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (run_at, id)
) STRICT, WITHOUT ROWID;

-- Jobs that may run now, each line in its order.
CREATE TABLE queued (
    line INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (line, rank, run_at, id)
) STRICT, WITHOUT ROWID;

-- Jobs that are held.
CREATE TABLE running (
    id INTEGER PRIMARY KEY,
    line INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    node TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    guards_for INTEGER, -- how long it stands for its dedupe key after its end; null: it has none
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    progress TEXT -- JSON
) STRICT;

-- Jobs that have ended, and what became of them.
CREATE TABLE finished (
    id INTEGER PRIMARY KEY,
    status TEXT NOT NULL, -- completed, failed or cancelled
    finished_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    node TEXT, -- of the last attempt; null: there was none
    started_at INTEGER,
    result BLOB,
    error TEXT,
    progress TEXT, -- JSON
    guarded_until INTEGER -- kept at least until then, for its dedupe key; null: for no key
) STRICT;

CREATE INDEX finished_by_age ON finished (finished_at) WHERE guarded_until IS NULL;
CREATE INDEX finished_by_guard ON finished (guarded_until) WHERE guarded_until IS NOT NULL;
CREATE INDEX finished_badly ON finished (status, id) WHERE status IN ('failed', 'cancelled');

-- Attempts that ended, but for the one that completed its job: the job itself tells of it.
CREATE TABLE attempts (
    job INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    number INTEGER NOT NULL,
    node TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    change TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (job, fence)
) STRICT, WITHOUT ROWID;

-- The first job of each line with limits or a rate that has queued jobs; never behind it, though
-- it may have left. A claim looks at those that are not parked, and at each line once.
CREATE TABLE fronts (
    line INTEGER PRIMARY KEY,
    lane INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    parked TEXT, -- what holds it up: a limit's key or a rate; null: nothing that is known
    at_most INTEGER NOT NULL DEFAULT 0 -- how many that limit allows
) STRICT;

CREATE INDEX fronts_open ON fronts (lane, rank, run_at, id) WHERE parked IS NULL;
CREATE INDEX fronts_parked ON fronts (parked, lane, at_most, rank, run_at, id) WHERE parked IS NOT NULL;

-- How many jobs run under each limit's key; a key that is not here: none.
CREATE TABLE holdings (
    key TEXT PRIMARY KEY,
    running INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- By rate: when its last start was due at an even pace, plus one spacing.
CREATE TABLE paces (
    key TEXT PRIMARY KEY,
    pace INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When the lines of a lane that are parked for a rate are looked at again.
CREATE TABLE openings (
    lane INTEGER NOT NULL,
    parked TEXT NOT NULL,
    opens_at INTEGER NOT NULL,
    PRIMARY KEY (lane, parked)
) STRICT, WITHOUT ROWID;

CREATE TABLE schedules (
    name TEXT PRIMARY KEY,
    definition TEXT NOT NULL, -- JSON
    version INTEGER NOT NULL,
    cursor INTEGER NOT NULL,
    next_tick INTEGER, -- null: there is none to come
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    origin TEXT NOT NULL,
    declared TEXT NOT NULL,
    paused INTEGER NOT NULL,
    pause_reason TEXT NOT NULL,
    runs INTEGER NOT NULL,
    last_job INTEGER,
    skips TEXT -- JSON; null: none
) STRICT;

CREATE INDEX schedules_by_tick ON schedules (next_tick) WHERE next_tick IS NOT NULL;

-- The ledger. A tick that fired has the number 0, so it can fire only once.
CREATE TABLE ticks (
    schedule TEXT NOT NULL,
    tick_at INTEGER NOT NULL,
    number INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    through INTEGER NOT NULL,
    count INTEGER NOT NULL,
    reason TEXT, -- why it was skipped; null: it fired
    job INTEGER,
    leader TEXT,
    epoch INTEGER,
    backfilled INTEGER NOT NULL,
    PRIMARY KEY (schedule, tick_at, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX ticks_by_age ON ticks (recorded_at);

CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    node TEXT NOT NULL, -- JSON
    beat_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    drain_requested INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Who may write as a leader.
CREATE TABLE fence (
    election TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    domain TEXT NOT NULL,
    token INTEGER NOT NULL,
    holder TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The highest token that was seen of each domain.
CREATE TABLE fence_tokens (
    election TEXT NOT NULL,
    domain TEXT NOT NULL,
    token INTEGER NOT NULL,
    PRIMARY KEY (election, domain)
) STRICT, WITHOUT ROWID;
