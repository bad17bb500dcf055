-- version: 1
-- Fire past ticks by hand. Returns the id of each new job; null for a tick that had fired. Returns null
-- if there is no such schedule.
CREATE OR REPLACE FUNCTION {schema}.backfill_ticks(
    of_schedule text, fire_ticks timestamptz[], jobs {schema}.new_jobs, at timestamptz
) RETURNS bigint[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    lanes integer[];
    ids bigint[];
    moment timestamptz;
BEGIN
    PERFORM FROM {schema}.schedules AS s WHERE s.name = of_schedule FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF cardinality(fire_ticks) = 0 THEN
        RETURN '{}';
    END IF;
    lanes := {schema}.lanes_of(jobs);
    moment := coalesce(at, clock_timestamp());
    ids := {schema}.fire_ids(
        ARRAY[of_schedule], ARRAY[true], array_fill(1, ARRAY[cardinality(fire_ticks)]), fire_ticks
    );
    PERFORM {schema}.create_jobs(ids, jobs, lanes, moment);
    INSERT INTO {schema}.ticks (
        schedule, tick_at, number, recorded_at, through, count, job, backfilled
    )
    SELECT of_schedule, f.tick, 0, moment, f.tick, 1, f.id, true
    FROM unnest(ids, fire_ticks) AS f (id, tick) WHERE f.id IS NOT NULL;
    RETURN ids;
END
$$;
