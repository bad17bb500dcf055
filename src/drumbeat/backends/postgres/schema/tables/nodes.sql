-- Heartbeats: one row for each node, for all that it holds.
CREATE TABLE {schema}.nodes (
    id text COLLATE "C" PRIMARY KEY,
    node text NOT NULL, -- JSON
    beat_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    drain_requested boolean NOT NULL DEFAULT false
);
