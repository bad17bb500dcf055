-- version: 2
-- Queue failed or cancelled jobs again. Returns the status that each had before, in the order of the
-- ids; null: no such job. They do not expire any more. The clock is read for each job after its row is locked.
CREATE OR REPLACE FUNCTION {schema}.reopen_jobs(ids bigint[], at timestamptz) RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    statuses text[] := '{}';
    stood text;
    number bigint;
    moment timestamptz;
BEGIN
    FOREACH number IN ARRAY ids LOOP
        SELECT a.status INTO stood FROM {schema}.archive AS a
        WHERE a.id = number AND a.status IN ('failed', 'cancelled') FOR UPDATE;
        IF FOUND THEN
            moment := coalesce(at, clock_timestamp());
            WITH gone AS (
                DELETE FROM {schema}.archive AS a WHERE a.id = number RETURNING *
            ), counted AS (
                INSERT INTO {schema}.tallies (lane, queued, failed, cancelled)
                SELECT lane, 1, -(status = 'failed')::int, -(status = 'cancelled')::int FROM gone
            )
            INSERT INTO {schema}.jobs (
                id, limit_group, run_at, created_at, queued_at, tick_at, lane, fence, rank, status,
                arguments, options, limits, tags, dedupe_key, schedule
            )
            SELECT
                id, {schema}.limit_group_of(lane, limits), moment, created_at, moment, tick_at,
                lane, fence, rank, 'queued', arguments,
                CASE
                    WHEN strpos(options, '"expires":') > 0
                    THEN nullif((options::jsonb - 'expires')::text, '{}')
                    ELSE options
                END,
                limits, tags, dedupe_key, schedule
            FROM gone;
            PERFORM {schema}.announce_limited_jobs(ARRAY[number]);
            PERFORM pg_notify({channels} || 'jobs', '');
        ELSE
            SELECT s.status INTO stood FROM (
                SELECT a.status FROM {schema}.archive AS a WHERE a.id = number
                UNION ALL
                SELECT j.status FROM {schema}.jobs AS j WHERE j.id = number
            ) AS s;
        END IF;
        statuses := statuses || stood;
    END LOOP;
    RETURN statuses;
END
$$;
