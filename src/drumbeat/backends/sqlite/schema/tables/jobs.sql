-- Every job, from its insertion until it is pruned. Its status is the one of the tables `pending`,
-- `queued`, `running` and `finished` that has a row for it; the job's own row is rarely updated.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    limit_group INTEGER NOT NULL,
    rank INTEGER NOT NULL, -- the priority, negated: smaller comes first
    run_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    arguments BLOB NOT NULL,
    options TEXT, -- JSON, see model/jobs/job_options.py; null: the defaults
    tags TEXT, -- JSON; null: none
    dedupe_digest TEXT, -- of the dedupe scope and key; null: no key
    guards_for INTEGER, -- how long the key stays taken after the job's end; null: no key
    guarded_until INTEGER, -- when the dedupe key is free again; null: it is
    schedule TEXT,
    tick_at INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    error TEXT, -- of the last attempt, or why the cancellation was requested
    cancel_requested INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX jobs_by_digest ON jobs (dedupe_digest, guarded_until) WHERE guarded_until IS NOT NULL;
CREATE INDEX jobs_by_schedule ON jobs (schedule, id) WHERE schedule IS NOT NULL;

-- Jobs that wait for their time.
CREATE TABLE pending (
    run_at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (run_at, id)
) STRICT, WITHOUT ROWID;

-- Jobs that may run now, in the order of their limit group.
CREATE TABLE queued (
    limit_group INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (limit_group, rank, run_at, id)
) STRICT, WITHOUT ROWID;

-- Jobs that a worker holds.
CREATE TABLE running (
    id INTEGER PRIMARY KEY,
    limit_group INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    node TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    guards_for INTEGER, -- as in jobs
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    progress TEXT -- JSON
) STRICT;

-- Jobs that have ended, and how.
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
    guarded_until INTEGER -- not pruned before then, for its dedupe key; null: it has none
) STRICT;

CREATE INDEX finished_by_age ON finished (finished_at) WHERE guarded_until IS NULL;
CREATE INDEX finished_by_guard ON finished (guarded_until) WHERE guarded_until IS NOT NULL;
CREATE INDEX finished_badly ON finished (status, id) WHERE status IN ('failed', 'cancelled');

-- Attempts that have ended, except the one that completed its job: `finished` has that one.
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
