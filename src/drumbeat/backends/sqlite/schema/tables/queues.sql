-- Queues whose jobs are not claimed.
CREATE TABLE paused_queues (
    queue TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How the pruned jobs of each queue ended.
CREATE TABLE forgotten_jobs (
    queue TEXT PRIMARY KEY,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
