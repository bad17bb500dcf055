-- The number of jobs of each lane and status: the sum over all rows. Each write appends a delta row,
-- so that concurrent writes do not wait for each other. Counting and pruning compact the rows.
CREATE TABLE {schema}.tallies (
    lane integer NOT NULL,
    pending bigint NOT NULL DEFAULT 0,
    queued bigint NOT NULL DEFAULT 0,
    running bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
