CREATE TABLE {schema}.schedules (
    name text COLLATE "C" PRIMARY KEY,
    definition text NOT NULL, -- JSON, see `drumbeat.model.document`
    version bigint NOT NULL,
    cursor timestamptz NOT NULL,
    next_tick timestamptz, -- null: no tick is left
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    origin text NOT NULL,
    declared text NOT NULL,
    paused boolean NOT NULL,
    pause_reason text NOT NULL,
    runs bigint NOT NULL,
    last_job bigint,
    skips timestamptz[] -- null: none
);

CREATE INDEX schedules_by_tick ON {schema}.schedules (next_tick, name) WHERE next_tick IS NOT NULL;

CREATE SEQUENCE {schema}.tick_numbers;

-- The ledger. A tick that fired has the number 0, so that it can fire only once.
CREATE TABLE {schema}.ticks (
    schedule text COLLATE "C" NOT NULL,
    tick_at timestamptz NOT NULL,
    number bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    through timestamptz NOT NULL,
    count bigint NOT NULL,
    reason text, -- why it was skipped; null: it fired
    job bigint,
    leader text,
    epoch bigint,
    backfilled boolean NOT NULL DEFAULT false,
    PRIMARY KEY (schedule, tick_at, number)
);

CREATE INDEX ticks_by_age ON {schema}.ticks (recorded_at);
