-- version: 3
-- Write each plan whole whose schedule still stands as it was read, if the epoch holds the fence. If
-- another epoch does, it is returned in `seen`, and nothing was written. `written` says which plans
-- were written, and `ids` which jobs their fires became. A plan that was made for an instant that has
-- not come does not stand.
--
-- Several plans of one schedule are written in rounds, each on top of the one before.
--
-- The commit does not wait for the disk: the claim of a job that is fired here waits for itself and
-- for all that was committed before it, so nothing is run that a crash of the server could undo. With
-- dedupe keys it does wait, since a submission may be answered with a job that is fired here.
CREATE OR REPLACE FUNCTION {schema}.commit_plans(
    of_election text, our_epoch bigint, plans {schema}.schedule_plans, fires {schema}.plan_fires,
    jobs {schema}.new_jobs, skips {schema}.plan_skips, cancels {schema}.plan_cancels,
    at timestamptz,
    OUT seen bigint, OUT written boolean[], OUT ids bigint[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    names text[] := plans.names;
    all_plans integer := cardinality(names);
    fire_plans integer[] := fires.plans;
    fire_ticks timestamptz[] := {schema}.spread(fires.ticks, cardinality(fires.plans));
    lanes integer[];
    moment timestamptz;
    leader text;
    stands boolean[];
    fired bigint[];
    counts bigint[];
    lasts bigint[];
    replaced bigint[];
BEGIN
    SELECT f.holder INTO leader FROM {schema}.fence AS f
    WHERE f.election = of_election AND f.epoch = our_epoch FOR SHARE;
    IF NOT FOUND THEN
        seen := coalesce((SELECT f.epoch FROM {schema}.fence AS f WHERE f.election = of_election), 0);
        RETURN;
    END IF;
    -- In the same order for everybody, against deadlocks.
    PERFORM FROM {schema}.schedules AS s WHERE s.name = ANY (names) ORDER BY s.name FOR UPDATE;
    IF cardinality(fire_plans) > 0 THEN
        lanes := {schema}.lanes_of(jobs);
    END IF;
    moment := coalesce(at, clock_timestamp());
    IF jobs.dedupe_keys IS NULL THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    FOR this_round IN 0 .. coalesce((SELECT max(r) FROM unnest(plans.rounds) AS r), 0) LOOP
        -- By version and cursor only: ten thousand schedules may share their next tick.
        stands := ARRAY(
            SELECT coalesce(p.round, 0) = this_round AND s.name IS NOT NULL
                AND p.new_cursor <= moment AND (
                p.assumes_unfinished IS NULL
                OR p.assumes_unfinished
                    = ((SELECT j.id FROM {schema}.jobs AS j WHERE j.id = s.last_job) IS NOT NULL)
            )
            FROM unnest(
                names, {schema}.spread(plans.versions, all_plans),
                {schema}.spread(plans.cursors, all_plans),
                {schema}.spread(plans.new_cursors, all_plans),
                {schema}.spread(plans.assumes_unfinished, all_plans), plans.rounds
            ) WITH ORDINALITY
                AS p (name, version, cursor, new_cursor, assumes_unfinished, round, n)
            LEFT JOIN {schema}.schedules AS s ON s.name = p.name
                AND s.version IS NOT DISTINCT FROM p.version
                AND s.cursor IS NOT DISTINCT FROM p.cursor
            ORDER BY p.n
        );
        fired := {schema}.fire_ids(names, stands, fire_plans, fire_ticks);
        IF cardinality(fired) > 0 THEN
            PERFORM {schema}.create_jobs(fired, jobs, lanes, moment);
            INSERT INTO {schema}.ticks (
                schedule, tick_at, number, recorded_at, through, count, job, leader, epoch
            )
            SELECT names[f.plan], f.tick, 0, moment, f.tick, 1, f.id, leader, our_epoch
            FROM unnest(fired, fire_plans, fire_ticks) AS f (id, plan, tick)
            WHERE f.id IS NOT NULL;
        END IF;
        PERFORM {schema}.record_skips(names, stands, skips, leader, our_epoch, moment);
        replaced := ARRAY(
            SELECT DISTINCT c.job FROM unnest(cancels.plans, cancels.jobs) AS c (plan, job)
            WHERE stands[c.plan] ORDER BY c.job
        );
        IF replaced <> '{}' THEN
            PERFORM {schema}.cancel_jobs(
                replaced, 'replaced by a later tick of its schedule', moment
            );
        END IF;
        SELECT array_agg(f.jobs ORDER BY f.plan), array_agg(f.last ORDER BY f.plan)
        INTO counts, lasts
        FROM (
            SELECT a.plan, count(a.id), max(a.id) FROM (
                SELECT u.plan, u.id FROM unnest(fire_plans, fired) AS u (plan, id)
                UNION ALL SELECT g, NULL FROM generate_series(1, all_plans) AS g
            ) AS a GROUP BY a.plan
        ) AS f (plan, jobs, last);
        UPDATE {schema}.schedules AS s SET
            cursor = p.new_cursor, next_tick = p.next_tick, runs = s.runs + p.jobs,
            last_job = coalesce(p.last, s.last_job),
            skips = CASE WHEN s.skips IS NOT NULL THEN nullif(
                ARRAY(SELECT k FROM unnest(s.skips) AS k WHERE k > p.new_cursor ORDER BY k), '{}'
            ) END
        FROM unnest(
            names, {schema}.spread(plans.new_cursors, all_plans),
            {schema}.spread(plans.next_ticks, all_plans), stands, counts, lasts
        ) AS p (name, new_cursor, next_tick, stands, jobs, last)
        WHERE s.name = p.name AND p.stands;
        written := ARRAY(SELECT w.a IS TRUE OR w.b FROM unnest(written, stands) AS w (a, b));
        ids := ARRAY(SELECT coalesce(w.a, w.b) FROM unnest(ids, fired) AS w (a, b));
    END LOOP;
END
$$;
