-- The coordinator's shared values. The row of a deleted value stays, with a null value, so that
-- revisions always rise.
CREATE SEQUENCE {schema}.configuration_revisions;

CREATE TABLE {schema}.configuration (
    key text COLLATE "C" PRIMARY KEY,
    value bytea,
    revision bigint NOT NULL
);
