-- Who may use the HTTP API. Only digests of the tokens are stored.
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE, -- SHA-256, in hexadecimal
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER, -- null: never
    revoked_at INTEGER, -- null: it is not revoked
    last_used_at INTEGER -- null: never
) STRICT;

CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;
