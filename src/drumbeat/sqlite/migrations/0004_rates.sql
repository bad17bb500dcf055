-- Rates by a log of recent starts. A key that has none here may still be in `paces`, where older
-- versions of Drumbeat keep how far a rate has been used.

CREATE TABLE rate_starts (
    key TEXT PRIMARY KEY,
    starts TEXT NOT NULL, -- JSON: when, how many at a time, and for how long they are kept
    outdated_at INTEGER NOT NULL -- from then on they concern no rate
) STRICT, WITHOUT ROWID;
