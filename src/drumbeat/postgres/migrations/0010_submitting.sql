-- deploy: before
-- Creating usual jobs, and committing plans, with less work.
--
-- Commits that notify wait for each other. So `insert_one_1` and `insert_alike_2` are told whether to
-- notify the workers; who says no tells them soon after.

-- A usual job: due now, with neither terms nor a key.
CREATE FUNCTION {schema}.insert_one_1(
    of_queue text, of_task text, of_rank smallint, of_options text, of_arguments bytea,
    at timestamptz, tell boolean, OUT moment timestamptz, OUT number bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    of_lane integer;
BEGIN
    moment := coalesce(at, clock_timestamp());
    number := nextval('{schema}.job_ids');
    SELECT l.id INTO of_lane FROM {schema}.lanes AS l WHERE l.queue = of_queue AND l.task = of_task;
    IF of_lane IS NULL THEN
        of_lane := ({schema}.lanes_of_1(ARRAY[of_queue], ARRAY[of_task]))[1];
    END IF;
    INSERT INTO {schema}.jobs (
        id, line, lane, rank, run_at, created_at, status, arguments, options
    )
    VALUES (
        number, of_lane, of_lane, of_rank, moment, moment, 'queued', of_arguments, of_options
    );
    INSERT INTO {schema}.tallies (lane, queued) VALUES (of_lane, 1);
    IF tell THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;

-- Usual jobs that differ in nothing but their arguments.
CREATE FUNCTION {schema}.insert_alike_2(
    of_queue text, of_task text, of_rank smallint, of_options text, all_arguments bytea[],
    at timestamptz, tell boolean, OUT moment timestamptz, OUT ids bigint[]
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    of_lane integer;
BEGIN
    moment := coalesce(at, clock_timestamp());
    SELECT l.id INTO of_lane FROM {schema}.lanes AS l WHERE l.queue = of_queue AND l.task = of_task;
    IF of_lane IS NULL THEN
        of_lane := ({schema}.lanes_of_1(ARRAY[of_queue], ARRAY[of_task]))[1];
    END IF;
    WITH made AS (
        INSERT INTO {schema}.jobs (
            id, line, lane, rank, run_at, created_at, status, arguments, options
        )
        SELECT nextval('{schema}.job_ids'), of_lane, of_lane, of_rank, moment, moment, 'queued', a,
            of_options
        FROM unnest(all_arguments) AS a
        RETURNING id
    )
    SELECT array_agg(m.id) INTO ids FROM made AS m;
    INSERT INTO {schema}.tallies (lane, queued) VALUES (of_lane, cardinality(all_arguments));
    IF tell THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;

-- As many as asked for, of an array that may have one value for all.
CREATE FUNCTION {schema}.spread_1(few anyarray, many integer) RETURNS anyarray
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN cardinality(few) = 1 AND many > 1 THEN array_fill(few[1], ARRAY[many]) ELSE few
    END
$$;

-- What `commit_1` does. Of what all plans, all fires or all kinds have in common, one value is sent.
CREATE FUNCTION {schema}.commit_2(
    of_election text, our_epoch bigint,
    names text[], versions bigint[], cursors timestamptz[], moved timestamptz[],
    next_ticks timestamptz[], assumes boolean[], rounds integer[],
    fire_plans integer[], fire_ticks timestamptz[],
    queues text[], tasks text[], ranks smallint[], all_options text[], all_terms text[],
    kinds integer[], all_arguments bytea[], asked timestamptz[], delays bigint[], keys text[],
    key_times bigint[], schedules text[], ticks timestamptz[], all_tags text[],
    skip_plans integer[], skip_ticks timestamptz[], skip_throughs timestamptz[],
    skip_counts bigint[], skip_reasons text[],
    cancel_plans integer[], cancels bigint[],
    at timestamptz,
    OUT seen bigint, OUT written boolean[], OUT ids bigint[]
)
LANGUAGE plpgsql AS $$
DECLARE
    plans integer := cardinality(names);
    fires integer := cardinality(fire_plans);
    all_kinds integer := greatest(
        cardinality(queues), cardinality(tasks), cardinality(ranks), cardinality(all_options),
        cardinality(all_terms)
    );
BEGIN
    SELECT c.* INTO seen, written, ids FROM {schema}.commit_1(
        of_election, our_epoch, names,
        {schema}.spread_1(versions, plans), {schema}.spread_1(cursors, plans),
        {schema}.spread_1(moved, plans), {schema}.spread_1(next_ticks, plans),
        {schema}.spread_1(assumes, plans), rounds, fire_plans,
        {schema}.spread_1(fire_ticks, fires),
        {schema}.spread_1(queues, all_kinds), {schema}.spread_1(tasks, all_kinds),
        {schema}.spread_1(ranks, all_kinds), {schema}.spread_1(all_options, all_kinds),
        {schema}.spread_1(all_terms, all_kinds), {schema}.spread_1(kinds, fires),
        {schema}.spread_1(all_arguments, fires), {schema}.spread_1(asked, fires),
        {schema}.spread_1(delays, fires), {schema}.spread_1(keys, fires),
        {schema}.spread_1(key_times, fires), {schema}.spread_1(schedules, fires),
        {schema}.spread_1(ticks, fires), {schema}.spread_1(all_tags, fires),
        skip_plans, skip_ticks, skip_throughs, skip_counts, skip_reasons, cancel_plans, cancels, at
    ) AS c;
END
$$;
