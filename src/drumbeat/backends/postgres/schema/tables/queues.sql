-- Queues whose jobs are not claimed. Every claim reads this table, so it holds nothing else.
CREATE TABLE {schema}.paused_queues (
    queue text COLLATE "C" PRIMARY KEY,
    reason text NOT NULL,
    since timestamptz NOT NULL
);

-- How many jobs of each queue were pruned, by their final status.
CREATE TABLE {schema}.forgotten_jobs (
    queue text COLLATE "C" PRIMARY KEY,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    cancelled bigint NOT NULL
);
