-- The last heartbeat of each node.
CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    node TEXT NOT NULL, -- JSON
    beat_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    drain_requested INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
