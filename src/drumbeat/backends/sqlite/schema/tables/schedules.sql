CREATE TABLE schedules (
    name TEXT PRIMARY KEY,
    definition TEXT NOT NULL, -- JSON
    version INTEGER NOT NULL,
    cursor INTEGER NOT NULL,
    next_tick INTEGER, -- null: none is to come
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

-- The ledger: what became of each tick. A fired tick has the number 0, so it can fire only once.
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
