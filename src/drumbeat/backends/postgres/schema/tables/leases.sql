-- The coordinator's leases: terms of elections and locks.

-- The identity of this coordinator. A schema that was dropped and created again is another one.
CREATE TABLE {schema}.coordinator (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    domain text NOT NULL
);

INSERT INTO {schema}.coordinator (domain)
VALUES ('postgresql-' || replace(gen_random_uuid()::text, '-', ''));

CREATE SEQUENCE {schema}.lease_tokens;

-- A row outlives its term: the next token is drawn while the row is locked, so it is higher than
-- every earlier token of the name.
CREATE TABLE {schema}.leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    token bigint NOT NULL,
    ttl interval NOT NULL,
    ends_at timestamptz NOT NULL,
    written_at timestamptz NOT NULL
);
