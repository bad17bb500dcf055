-- The coordinator: leases, registry, configuration.
--
-- Ends are microseconds on the clock that counts from the start of the machine, and mean something
-- only together with that start: what another start wrote is over.

-- The last numbers given out, in the one row. None is ever given out again.
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
