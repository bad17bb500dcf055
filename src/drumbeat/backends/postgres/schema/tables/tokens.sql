-- Tokens of the HTTP API, by their digest. The tokens themselves are not stored.
CREATE TABLE {schema}.tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL UNIQUE, -- SHA-256, hexadecimal
    scope text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz, -- null: never
    revoked_at timestamptz, -- null: not revoked
    last_used_at timestamptz -- null: never
);

CREATE UNIQUE INDEX tokens_by_name ON {schema}.tokens (name) WHERE revoked_at IS NULL;
