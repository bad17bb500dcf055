-- deploy: before
-- The coordinator: leases, registry, configuration.

-- Who this coordinator is. A schema that was dropped and made again is another one.
CREATE TABLE {schema}.coordinator (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    domain text NOT NULL
);

INSERT INTO {schema}.coordinator (domain)
VALUES ('postgresql-' || replace(gen_random_uuid()::text, '-', ''));

-- Tokens of terms and numbers of writes. None is ever given out again.
CREATE SEQUENCE {schema}.lease_tokens;
CREATE SEQUENCE {schema}.configuration_revisions;

-- One row for each name, also after its term: the next token is drawn while that row is locked, and
-- so is above every earlier one of the name.
CREATE TABLE {schema}.leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    token bigint NOT NULL,
    ttl interval NOT NULL,
    ends_at timestamptz NOT NULL,
    written_at timestamptz NOT NULL
);

CREATE TABLE {schema}.registry (
    id text COLLATE "C" PRIMARY KEY,
    node text NOT NULL, -- JSON
    ends_at timestamptz NOT NULL
);

-- A value that was deleted is NULL: its row stays, so that revisions rise for ever.
CREATE TABLE {schema}.configuration (
    key text COLLATE "C" PRIMARY KEY,
    value bytea,
    revision bigint NOT NULL
);
