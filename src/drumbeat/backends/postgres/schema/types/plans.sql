-- Plans of schedules. An array of one value stands for all plans.
CREATE TYPE {schema}.schedule_plans AS (
    names text[],
    versions bigint[], -- as they were read,
    cursors timestamptz[], -- as they were read
    new_cursors timestamptz[],
    next_ticks timestamptz[],
    assumes_unfinished boolean[], -- whether the last job is assumed to be unfinished; null: no matter
    rounds integer[] -- how many plans of the same schedule come before; null: every schedule has one
);

-- Ticks that fire, in the order of their jobs, each with the position of its plan.
CREATE TYPE {schema}.plan_fires AS (
    plans integer[],
    ticks timestamptz[]
);

-- Runs of skipped ticks, each with the position of its plan.
CREATE TYPE {schema}.plan_skips AS (
    plans integer[],
    ticks timestamptz[],
    throughs timestamptz[],
    counts bigint[],
    reasons text[]
);

-- Jobs that are replaced by later ticks, each with the position of its plan.
CREATE TYPE {schema}.plan_cancels AS (
    plans integer[],
    jobs bigint[]
);
