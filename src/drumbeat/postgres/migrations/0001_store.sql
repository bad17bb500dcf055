-- deploy: before
-- The store: jobs, schedules, ledger, nodes, fence.
--
-- Lengths of time are whole microseconds. What is nullable says what null means.

CREATE SEQUENCE {schema}.job_ids;

-- A lane is a task in a queue. There are few, and they are kept for ever.
CREATE TABLE {schema}.lanes (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue text COLLATE "C" NOT NULL,
    task text COLLATE "C" NOT NULL,
    UNIQUE (queue, task)
);

-- Jobs that are not finished: a small table that is written all the time.
CREATE TABLE {schema}.jobs (
    id bigint PRIMARY KEY,
    line bigint NOT NULL, -- its lane, or below zero for the jobs of a lane that share their terms
    run_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    queued_at timestamptz, -- null: when it was created
    started_at timestamptz, -- of the running attempt
    asked_at timestamptz, -- the time that was asked for; null: none
    tick_at timestamptz,
    delay bigint, -- null: none
    dedupe_for bigint, -- null: a day
    lane integer NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    fence integer NOT NULL DEFAULT 0,
    rank smallint NOT NULL, -- its priority, negated: smaller comes first
    cancel_requested boolean NOT NULL DEFAULT false,
    status text COLLATE "C" NOT NULL, -- pending, queued or running
    arguments bytea NOT NULL,
    options text, -- JSON: retry and time-out; null: the defaults
    terms text COLLATE "C", -- JSON: limits and rate; null: none
    tags text[], -- null: none
    dedupe_key text COLLATE "C",
    schedule text COLLATE "C",
    node text COLLATE "C", -- who holds it
    error text, -- of its last attempt, or why its cancellation was asked for
    progress text -- JSON
) WITH (
    -- Nearly every row dies within seconds, and dead rows are what slows a claim down.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0.2,
    autovacuum_analyze_scale_factor = 0.2,
    autovacuum_analyze_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX jobs_queued ON {schema}.jobs (line, rank, run_at, id) WHERE status = 'queued';
CREATE INDEX jobs_pending ON {schema}.jobs (run_at, id) WHERE status = 'pending';
CREATE INDEX jobs_running ON {schema}.jobs (node, id) WHERE status = 'running';
CREATE INDEX jobs_by_key ON {schema}.jobs (dedupe_key, id) WHERE dedupe_key IS NOT NULL;

-- Jobs that have ended: only ever appended to, and forgotten by age.
CREATE TABLE {schema}.archive (
    id bigint PRIMARY KEY,
    run_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    started_at timestamptz, -- of the last attempt; null: there was none
    asked_at timestamptz,
    tick_at timestamptz,
    guarded_until timestamptz, -- kept at least until then, for its dedupe key; null: for no key
    delay bigint,
    dedupe_for bigint,
    lane integer NOT NULL,
    attempt integer NOT NULL,
    fence integer NOT NULL,
    rank smallint NOT NULL,
    cancel_requested boolean NOT NULL,
    status text COLLATE "C" NOT NULL, -- completed, failed or cancelled
    arguments bytea NOT NULL,
    options text,
    terms text,
    tags text[],
    dedupe_key text COLLATE "C",
    schedule text COLLATE "C",
    node text,
    result bytea,
    error text,
    progress text
);

CREATE INDEX archive_by_age ON {schema}.archive (finished_at) WHERE guarded_until IS NULL;
CREATE INDEX archive_guarding ON {schema}.archive (guarded_until) WHERE guarded_until IS NOT NULL;
CREATE INDEX archive_by_key ON {schema}.archive (dedupe_key, id) WHERE dedupe_key IS NOT NULL;
CREATE INDEX archive_by_lane ON {schema}.archive (lane, id);
CREATE INDEX archive_by_schedule ON {schema}.archive (schedule, id) WHERE schedule IS NOT NULL;
CREATE INDEX archive_ended_badly ON {schema}.archive (status, id) WHERE status <> 'completed';
CREATE INDEX archive_by_tag ON {schema}.archive USING gin (tags) WHERE tags IS NOT NULL;
CREATE INDEX archive_by_creation ON {schema}.archive USING brin (created_at) WITH (autosummarize);

-- Attempts that ended, but for the one that completed its job: the job itself tells of it.
CREATE TABLE {schema}.attempts (
    job bigint NOT NULL,
    fence integer NOT NULL,
    number integer NOT NULL,
    node text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    change text NOT NULL,
    error text,
    PRIMARY KEY (job, fence)
);

-- How many jobs of each lane stand where: the sum over all rows. A step adds a row of differences,
-- so that nobody waits for anybody; now and then they are folded into few.
CREATE TABLE {schema}.tallies (
    lane integer NOT NULL,
    pending bigint NOT NULL DEFAULT 0,
    queued bigint NOT NULL DEFAULT 0,
    running bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Limits and rates. What follows is written by one transaction at a time, but for `arrivals`, which
-- is only appended to: whoever queues a job with terms tells so, in its own transaction.
CREATE TABLE {schema}.arrivals (
    line bigint NOT NULL,
    lane integer NOT NULL,
    terms text NOT NULL,
    rank smallint NOT NULL,
    run_at timestamptz NOT NULL,
    id bigint NOT NULL
);

CREATE INDEX arrivals_by_lane ON {schema}.arrivals (lane);

-- The first job of each line with terms that has queued jobs; never behind it, though it may have
-- left. A claim looks at those that are not parked, and at each line once.
CREATE TABLE {schema}.fronts (
    line bigint PRIMARY KEY,
    lane integer NOT NULL,
    rank smallint NOT NULL,
    run_at timestamptz NOT NULL,
    id bigint NOT NULL,
    parked text COLLATE "C", -- what holds it up: a limit's key or a rate; null: nothing that is known
    at_most integer NOT NULL DEFAULT 0, -- how many that limit allows
    keys text[] NOT NULL, -- its limits: their keys,
    allowed integer[] NOT NULL, -- how many may run,
    yields boolean[] NOT NULL, -- and whether a job is cancelled where it is reached
    rate text, -- what it is parked under for its rate; null: it has none
    rate_key text,
    spacing bigint, -- between two starts
    burst bigint -- how far ahead of the even pace starts may run
);

CREATE INDEX fronts_open ON {schema}.fronts (rank, run_at, id) WHERE parked IS NULL;
CREATE INDEX fronts_parked ON {schema}.fronts (parked, lane, at_most, rank, run_at, id)
    WHERE parked IS NOT NULL;
CREATE INDEX fronts_by_lane ON {schema}.fronts (lane);

-- How many jobs run under each limit's key; a key that is not here: none.
CREATE TABLE {schema}.holdings (
    key text COLLATE "C" PRIMARY KEY,
    running integer NOT NULL
);

-- By rate: when its last start was due at an even pace, plus one spacing.
CREATE TABLE {schema}.paces (
    key text COLLATE "C" PRIMARY KEY,
    pace timestamptz NOT NULL
);

-- When the lines of a lane that are parked for a rate are looked at again.
CREATE TABLE {schema}.openings (
    lane integer NOT NULL,
    parked text COLLATE "C" NOT NULL,
    opens_at timestamptz NOT NULL,
    PRIMARY KEY (lane, parked)
);

CREATE TABLE {schema}.schedules (
    name text COLLATE "C" PRIMARY KEY,
    definition text NOT NULL, -- JSON
    version bigint NOT NULL,
    cursor timestamptz NOT NULL,
    next_tick timestamptz, -- null: there is none to come
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

-- The ledger. A tick that fired has the number 0, so it can fire only once.
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

CREATE TABLE {schema}.nodes (
    id text COLLATE "C" PRIMARY KEY,
    node text NOT NULL, -- JSON
    beat_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    drain_requested boolean NOT NULL DEFAULT false
);

-- Who may write as a leader.
CREATE TABLE {schema}.fence (
    election text COLLATE "C" PRIMARY KEY,
    epoch bigint NOT NULL,
    domain text NOT NULL,
    token bigint NOT NULL,
    holder text NOT NULL
);

-- The highest token that was seen of each domain.
CREATE TABLE {schema}.fence_tokens (
    election text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    PRIMARY KEY (election, domain)
);
