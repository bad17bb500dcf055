-- Instants and durations are whole microseconds. A nullable column says what null means.

-- The domain of this file, which no other file has, and the namespace that it holds.
CREATE TABLE identity (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The last numbers given out, in one row. No number is given out twice.
CREATE TABLE counters (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    job INTEGER NOT NULL,
    tick INTEGER NOT NULL,
    limit_group INTEGER NOT NULL, -- of limit groups and of lanes
    generation INTEGER NOT NULL -- rises when groups are deleted: numbers kept in memory are void
) STRICT;

INSERT INTO counters VALUES (1, 0, 0, 0, 0);
