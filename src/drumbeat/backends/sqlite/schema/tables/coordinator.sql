-- The coordinator: leases, registry, configuration.
--
-- `ends_at` is in microseconds since the machine was booted, so it means something only together
-- with `boot`, the id of that boot: a row of another boot is over.

-- The last numbers given out, in one row. No number is given out twice.
CREATE TABLE coordinator_counters (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    token INTEGER NOT NULL,
    revision INTEGER NOT NULL
) STRICT;

INSERT INTO coordinator_counters VALUES (1, 0, 0);

CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    token INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    boot TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE registry (
    id TEXT PRIMARY KEY,
    node TEXT NOT NULL, -- JSON
    ends_at INTEGER NOT NULL,
    boot TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE configuration (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
