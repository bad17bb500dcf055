-- The coordinator's list of live nodes.
CREATE TABLE {schema}.registry (
    id text COLLATE "C" PRIMARY KEY,
    node text NOT NULL, -- JSON
    ends_at timestamptz NOT NULL
);
