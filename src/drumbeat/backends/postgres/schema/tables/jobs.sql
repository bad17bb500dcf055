-- Jobs that are not finished: a small table with many writes.
--
-- Columns are what statements filter, order or change. Every other field of a job is in `options`.

CREATE SEQUENCE {schema}.job_ids;

CREATE TABLE {schema}.jobs (
    id bigint PRIMARY KEY,
    -- Jobs of a lane with the same limits and rate share a group, whose number is negative. Jobs
    -- without limits and rate are in the group of their lane, which has the number of the lane.
    limit_group bigint NOT NULL,
    run_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    queued_at timestamptz, -- null: when it was created
    started_at timestamptz, -- of the running attempt
    tick_at timestamptz,
    lane integer NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    fence integer NOT NULL DEFAULT 0,
    rank smallint NOT NULL, -- its priority, negated: the smallest is claimed first
    cancel_requested boolean NOT NULL DEFAULT false,
    status text COLLATE "C" NOT NULL, -- pending, queued or running
    arguments bytea NOT NULL,
    options text, -- JSON, see `drumbeat.model.job_options`; null: the defaults
    limits text COLLATE "C", -- JSON: [[[key, at_most, on_conflict], ...], [key, at_most, per] or null]
    tags text[], -- null: none
    dedupe_key text COLLATE "C", -- a digest of the scope and the key
    schedule text COLLATE "C",
    node text COLLATE "C", -- the holder of the running attempt
    error text, -- of the last attempt, or the reason of a requested cancellation
    progress text -- JSON
) WITH (
    -- Nearly every row is deleted within seconds, and dead rows slow claims down.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.2,
    autovacuum_analyze_scale_factor = 0.2,
    autovacuum_analyze_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX jobs_queued ON {schema}.jobs (limit_group, rank, run_at, id) WHERE status = 'queued';
CREATE INDEX jobs_pending ON {schema}.jobs (run_at, id) WHERE status = 'pending';
CREATE INDEX jobs_running ON {schema}.jobs (node, id) WHERE status = 'running';
CREATE INDEX jobs_by_key ON {schema}.jobs (dedupe_key, id) WHERE dedupe_key IS NOT NULL;
CREATE INDEX jobs_tagged ON {schema}.jobs (id) WHERE tags IS NOT NULL;
