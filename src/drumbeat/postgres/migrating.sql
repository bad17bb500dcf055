-- name: is_there
-- Whether the database has been migrated before.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migrations'
);

-- name: has_schema
-- Whether the schema exists; only its creation needs a right to the whole database.
SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1);

-- name: applied
-- What was applied.
SELECT version, name, checksum, deploy FROM {schema}.migrations;

-- name: be_patient
-- A migration may take long, and no session's limits are to end it half-way; but it does not hold
-- up everyone behind a lock that it cannot get.
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '60s';
SET LOCAL lock_timeout = '10s';

-- name: lock
-- One at a time, in this namespace; the lock ends with the transaction.
SELECT pg_advisory_xact_lock(hashtextextended('drumbeat ' || $1, 0));

-- name: make_schema
-- The namespace.
CREATE SCHEMA {schema};

-- name: make_schema_if_missing
-- The same, for a person who runs it by hand and may ask for more than we do.
CREATE SCHEMA IF NOT EXISTS {schema};

-- name: make_table
-- The list of what was applied.
CREATE TABLE IF NOT EXISTS {schema}.migrations (
    version integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    deploy text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- name: record
-- One more was applied.
INSERT INTO {schema}.migrations (version, name, checksum, deploy) VALUES ($1, $2, $3, $4);
