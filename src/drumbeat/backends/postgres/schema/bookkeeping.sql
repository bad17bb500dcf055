-- name: has_bookkeeping
-- Whether the namespace was migrated before.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migrations'
);

-- name: has_schema
-- Whether the schema exists; only its creation needs a right to the whole database.
SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1);

-- name: applied_migrations
-- The migrations that were applied.
SELECT version, name, checksum, deploy FROM {schema}.migrations;

-- name: installed_functions
-- The functions that are installed.
SELECT name, version, checksum FROM {schema}.functions;

-- name: set_timeouts
-- A migration may take long, and no time-out may end it half-way; but it must not hold up everyone
-- behind a lock that it cannot get. Bodies of functions may refer to functions that follow.
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '60s';
SET LOCAL lock_timeout = '10s'; SET LOCAL check_function_bodies = off;

-- name: lock
-- Let one upgrade of the namespace run at a time; the lock ends with the transaction.
SELECT pg_advisory_xact_lock(hashtextextended('drumbeat ' || $1, 0));

-- name: create_schema
-- The namespace.
CREATE SCHEMA {schema};

-- name: create_schema_if_missing
-- The namespace, for a person who runs the script and may have more rights than we need.
CREATE SCHEMA IF NOT EXISTS {schema};

-- name: create_bookkeeping
-- The lists of what was applied and installed.
CREATE TABLE IF NOT EXISTS {schema}.migrations (
    version integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    deploy text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE IF NOT EXISTS {schema}.functions (
    name text PRIMARY KEY,
    version integer NOT NULL,
    checksum text NOT NULL,
    installed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- name: record_migration
-- A migration was applied.
INSERT INTO {schema}.migrations (version, name, checksum, deploy)
VALUES ({version}, {name}, {checksum}, {deploy});

-- name: record_function
-- A function was installed.
INSERT INTO {schema}.functions AS f (name, version, checksum)
VALUES ({name}, {version}, {checksum})
ON CONFLICT (name) DO UPDATE SET version = excluded.version, checksum = excluded.checksum,
    installed_at = excluded.installed_at;

-- name: refuse_older_function
-- Stop a script of an older version of Drumbeat before it replaces a newer function.
DO $$ BEGIN
    IF EXISTS (SELECT FROM {schema}.functions WHERE name = {name} AND version > {version}) THEN
        RAISE EXCEPTION 'a newer version of Drumbeat has installed the function %', {name};
    END IF;
END $$;
