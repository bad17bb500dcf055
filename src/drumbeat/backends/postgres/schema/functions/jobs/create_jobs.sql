-- version: 2
-- Create jobs whatever their dedupe keys, count them, and notify workers. A job whose id is null is
-- not created. `kind_lanes` is what `lanes_of` gave.
CREATE OR REPLACE FUNCTION {schema}.create_jobs(
    ids bigint[], jobs {schema}.new_jobs, kind_lanes integer[], moment timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    -- Local variables, since an element of an array within a composite takes a walk to find.
    all_kinds integer := cardinality(kind_lanes);
    kind_ranks smallint[] := {schema}.spread(jobs.ranks, all_kinds);
    kind_options text[] := {schema}.spread(jobs.options, all_kinds);
    kind_limits text[] := {schema}.spread(jobs.limits, all_kinds);
    kind_times timestamptz[] := array_fill(moment, ARRAY[all_kinds]);
    kind_expiries timestamptz[];
    kinds integer[] := {schema}.spread(jobs.kinds, jobs.size);
    first_time timestamptz;
    soonest timestamptz;
    now_queued bigint;
BEGIN
    IF array_length(array_remove(kind_options, NULL), 1) > 0 THEN
        kind_times := ARRAY(
            SELECT coalesce(
                (o.options::json ->> 'run_at')::timestamptz,
                moment + (o.options::json ->> 'delay')::bigint * interval '1 microsecond',
                moment
            )
            FROM unnest(kind_options) WITH ORDINALITY AS o (options, n) ORDER BY o.n
        );
        kind_expiries := {schema}.expiries_of(kind_options, kind_times);
        SELECT min(t) INTO first_time FROM unnest(kind_times) AS t WHERE t > moment;
        IF kind_expiries IS NOT NULL THEN
            PERFORM pg_notify({channels} || 'times', '');
        END IF;
    END IF;
    IF first_time IS NOT NULL THEN
        SELECT j.run_at INTO soonest FROM {schema}.jobs AS j
        WHERE j.status = 'pending' ORDER BY j.run_at LIMIT 1;
        IF soonest IS NULL OR first_time < soonest THEN
            PERFORM pg_notify({channels} || 'times', '');
        END IF;
    END IF;
    INSERT INTO {schema}.jobs (
        id, limit_group, lane, rank, run_at, created_at, status, arguments, options, limits,
        dedupe_key, schedule, tick_at, tags, expires_at
    )
    SELECT
        j.id, {schema}.limit_group_of(kind_lanes[j.kind], kind_limits[j.kind]), kind_lanes[j.kind],
        kind_ranks[j.kind], kind_times[j.kind], moment,
        CASE WHEN kind_times[j.kind] > moment THEN 'pending' ELSE 'queued' END,
        j.arguments, kind_options[j.kind], kind_limits[j.kind], j.dedupe_key, j.schedule, j.tick,
        CASE WHEN j.tags IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(j.tags::json)) END,
        kind_expiries[j.kind]
    FROM unnest(
        ids, kinds, {schema}.spread(jobs.arguments, jobs.size),
        {schema}.spread(jobs.dedupe_keys, jobs.size), {schema}.spread(jobs.schedules, jobs.size),
        {schema}.spread(jobs.ticks, jobs.size), {schema}.spread(jobs.tags, jobs.size)
    ) AS j (id, kind, arguments, dedupe_key, schedule, tick, tags)
    WHERE j.id IS NOT NULL;
    WITH counted AS (
        INSERT INTO {schema}.tallies (lane, pending, queued)
        SELECT kind_lanes[j.kind], count(*) FILTER (WHERE kind_times[j.kind] > moment),
            count(*) FILTER (WHERE kind_times[j.kind] <= moment)
        FROM unnest(ids, kinds) AS j (id, kind) WHERE j.id IS NOT NULL GROUP BY 1
        RETURNING queued
    )
    SELECT sum(c.queued) INTO now_queued FROM counted AS c;
    IF array_length(array_remove(kind_limits, NULL), 1) > 0 THEN
        PERFORM {schema}.announce_limited_jobs(ids);
    END IF;
    IF now_queued > 0 THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;
