-- deploy: before
-- Creating jobs.
--
-- Each function that a client calls is one step: one round trip, one transaction, no lock held
-- while a client thinks. Its name ends in its version, so that old and new nodes run side by side.

-- The number of a line: the lane's own for jobs without terms, else one below zero.
CREATE FUNCTION {schema}.line_of_1(lane integer, terms text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN terms IS NULL THEN lane
        ELSE -1 - (hashtextextended(terms, lane) & 9223372036854775807)
    END
$$;

-- The numbers of some lanes, in their order; those that are new are made.
CREATE FUNCTION {schema}.lanes_of_1(queues text[], tasks text[]) RETURNS integer[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    numbers integer[];
BEGIN
    numbers := ARRAY(
        SELECT l.id FROM unnest(queues, tasks) WITH ORDINALITY AS k (queue, task, n)
        LEFT JOIN {schema}.lanes AS l ON l.queue = k.queue AND l.task = k.task ORDER BY k.n
    );
    IF array_position(numbers, NULL) IS NULL THEN
        RETURN numbers;
    END IF;
    INSERT INTO {schema}.lanes (queue, task)
    SELECT DISTINCT k.queue, k.task
    FROM unnest(queues, tasks, numbers) AS k (queue, task, number)
    WHERE k.number IS NULL ORDER BY k.queue, k.task
    ON CONFLICT DO NOTHING;
    RETURN ARRAY(
        SELECT l.id FROM unnest(queues, tasks) WITH ORDINALITY AS k (queue, task, n)
        LEFT JOIN {schema}.lanes AS l ON l.queue = k.queue AND l.task = k.task ORDER BY k.n
    );
END
$$;

-- Jobs, whatever their dedupe keys. What many have in common comes once, as a kind; arrays that
-- would be empty are null. A job without a number is not created.
CREATE FUNCTION {schema}.create_jobs_1(
    ids bigint[], queues text[], tasks text[], ranks smallint[], all_options text[],
    all_terms text[], kinds integer[], all_arguments bytea[], asked timestamptz[],
    delays bigint[], keys text[], key_times bigint[], schedules text[], ticks timestamptz[],
    all_tags text[], moment timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lanes integer[] := {schema}.lanes_of_1(queues, tasks);
    limited boolean := array_length(array_remove(all_terms, NULL), 1) > 0;
    soonest timestamptz;
    pending bigint := 0;
    queued bigint;
    first timestamptz;
BEGIN
    IF asked IS NULL AND delays IS NULL THEN
        queued := cardinality(ids) - cardinality(array_positions(ids, NULL));
    ELSE
        SELECT count(*) FILTER (WHERE s.run_at > moment), count(*) FILTER (WHERE s.run_at <= moment),
            min(s.run_at) FILTER (WHERE s.run_at > moment)
        INTO pending, queued, first
        FROM (
            SELECT coalesce(a.asked, moment + a.delay * interval '1 microsecond', moment) AS run_at
            FROM unnest(ids, asked, delays) AS a (id, asked, delay) WHERE a.id IS NOT NULL
        ) AS s;
        IF pending > 0 THEN
            SELECT j.run_at INTO soonest FROM {schema}.jobs AS j
            WHERE j.status = 'pending' ORDER BY j.run_at LIMIT 1;
            IF soonest IS NULL OR first < soonest THEN
                PERFORM pg_notify({channels} || 'times', '');
            END IF;
        END IF;
    END IF;
    INSERT INTO {schema}.jobs (
        id, line, lane, rank, run_at, created_at, status, arguments, options, terms, asked_at,
        delay, dedupe_key, dedupe_for, schedule, tick_at, tags
    )
    SELECT
        s.id, {schema}.line_of_1(lanes[s.kind], all_terms[s.kind]), lanes[s.kind], ranks[s.kind],
        s.run_at, moment, CASE WHEN s.run_at > moment THEN 'pending' ELSE 'queued' END,
        s.arguments, all_options[s.kind], all_terms[s.kind], s.asked, s.delay, s.key, s.key_time,
        s.schedule, s.tick,
        CASE WHEN s.tags IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(s.tags::json)) END
    FROM (
        SELECT *, coalesce(u.asked, moment + u.delay * interval '1 microsecond', moment) AS run_at
        FROM unnest(
            ids, kinds, all_arguments, asked, delays, keys, key_times, schedules, ticks, all_tags
        ) AS u (id, kind, arguments, asked, delay, key, key_time, schedule, tick, tags)
        OFFSET 0
    ) AS s
    WHERE s.id IS NOT NULL;
    IF cardinality(kinds) > 0 AND cardinality(lanes) = 1 THEN
        IF queued + pending > 0 THEN
            INSERT INTO {schema}.tallies (lane, pending, queued)
            VALUES (lanes[1], pending, queued);
        END IF;
    ELSE
        INSERT INTO {schema}.tallies (lane, pending, queued)
        SELECT lanes[s.kind], count(*) FILTER (WHERE s.waits), count(*) FILTER (WHERE NOT s.waits)
        FROM (
            SELECT a.kind,
                coalesce(a.asked, moment + a.delay * interval '1 microsecond') > moment IS TRUE
            FROM unnest(ids, kinds, asked, delays) AS a (id, kind, asked, delay)
            WHERE a.id IS NOT NULL
        ) AS s (kind, waits)
        GROUP BY 1;
    END IF;
    IF limited THEN
        PERFORM {schema}.arrive_1(ids);
    END IF;
    IF queued > 0 THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;

-- Those of some jobs that are queued and have terms come to the front of their lines, if they are
-- the first: told here without a lock, heeded by the next claim.
CREATE FUNCTION {schema}.arrive_1(ids bigint[]) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO {schema}.arrivals (line, lane, terms, rank, run_at, id)
    SELECT DISTINCT ON (line) line, lane, terms, rank, run_at, id
    FROM {schema}.jobs
    -- Neither pending nor running. Said so that no index of the queued ones is read for it.
    WHERE id = ANY (ids) AND terms IS NOT NULL AND status <> 'pending' AND node IS NULL
    ORDER BY line, rank, run_at, id
$$;

-- Create jobs, but for those whose dedupe key is taken: these have the number of the job that
-- stands for it in `standing`.
CREATE FUNCTION {schema}.insert_1(
    queues text[], tasks text[], ranks smallint[], all_options text[], all_terms text[],
    kinds integer[], all_arguments bytea[], asked timestamptz[], delays bigint[], keys text[],
    key_times bigint[], schedules text[], ticks timestamptz[], all_tags text[], at timestamptz,
    OUT moment timestamptz, OUT ids bigint[], OUT standing bigint[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    firsts integer[];
BEGIN
    moment := coalesce(at, clock_timestamp());
    IF keys IS NULL THEN
        ids := ARRAY(
            SELECT nextval('{schema}.job_ids') FROM generate_series(1, cardinality(kinds))
        );
    ELSE
        -- In one order for everybody, so that nobody waits in a circle.
        PERFORM pg_advisory_xact_lock(k.lock) FROM (
            SELECT DISTINCT hashtextextended({channels} || 'key ' || u.key, 0)
            FROM unnest(keys) AS u (key) WHERE u.key IS NOT NULL ORDER BY 1
        ) AS k (lock);
        SELECT array_agg(k.first ORDER BY k.n), array_agg(k.standing ORDER BY k.n)
        INTO firsts, standing
        FROM (
            SELECT u.n, min(u.n) OVER (PARTITION BY u.key)::integer, (
                SELECT max(s.id) FROM (
                    SELECT j.id FROM {schema}.jobs AS j WHERE j.dedupe_key = u.key
                    UNION ALL
                    SELECT a.id FROM {schema}.archive AS a
                    WHERE a.dedupe_key = u.key AND a.finished_at
                        + coalesce(a.dedupe_for, 86400000000) * interval '1 microsecond' > moment
                ) AS s
            )
            FROM unnest(keys) WITH ORDINALITY AS u (key, n)
        ) AS k (n, first, standing);
        ids := ARRAY(
            SELECT CASE
                WHEN u.key IS NULL OR u.standing IS NULL AND u.first = u.n
                THEN nextval('{schema}.job_ids')
            END
            FROM unnest(keys, firsts, standing) WITH ORDINALITY AS u (key, first, standing, n)
        );
        standing := ARRAY(
            SELECT CASE WHEN u.id IS NULL THEN coalesce(u.standing, ids[u.first]) END
            FROM unnest(ids, firsts, standing) AS u (id, first, standing)
        );
    END IF;
    PERFORM {schema}.create_jobs_1(
        ids, queues, tasks, ranks, all_options, all_terms, kinds, all_arguments, asked, delays,
        keys, key_times, schedules, ticks, all_tags, moment
    );
END
$$;

-- The same for jobs that are alike but for their arguments, due now, and have neither terms nor keys:
-- as nearly all are. It takes half the time of the other for a single one.
CREATE FUNCTION {schema}.insert_alike_1(
    of_queue text, of_task text, of_rank smallint, of_options text, all_arguments bytea[],
    at timestamptz, OUT moment timestamptz, OUT ids bigint[]
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    number integer;
BEGIN
    moment := coalesce(at, clock_timestamp());
    SELECT l.id INTO number FROM {schema}.lanes AS l WHERE l.queue = of_queue AND l.task = of_task;
    IF number IS NULL THEN
        number := ({schema}.lanes_of_1(ARRAY[of_queue], ARRAY[of_task]))[1];
    END IF;
    WITH made AS (
        INSERT INTO {schema}.jobs (
            id, line, lane, rank, run_at, created_at, status, arguments, options
        )
        SELECT nextval('{schema}.job_ids'), number, number, of_rank, moment, moment, 'queued', a,
            of_options
        FROM unnest(all_arguments) AS a
        RETURNING id
    ), told AS (
        INSERT INTO {schema}.tallies (lane, queued) VALUES (number, cardinality(all_arguments))
    )
    SELECT array_agg(m.id) INTO ids FROM made AS m;
    PERFORM pg_notify({channels} || 'jobs', '');
END
$$;

-- The same from one text, for whoever has a transaction of their own and a driver of their own: a
-- list of objects, each as `drumbeat.stores.postgres.joining` writes them. Each row of the answer is
-- a text too, an object with the number of the new job, or with the job that stands for its key.
CREATE FUNCTION {schema}.submit_1(specs text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    made record;
BEGIN
    SELECT i.* INTO made
    FROM (
        SELECT
            array_agg(s.queue ORDER BY n), array_agg(s.task ORDER BY n),
            array_agg(s.rank ORDER BY n), array_agg(s.options ORDER BY n),
            array_agg(s.terms ORDER BY n), array_agg(n::integer ORDER BY n),
            array_agg(decode(s.arguments, 'base64') ORDER BY n), array_agg(s.asked ORDER BY n),
            array_agg(s.delay ORDER BY n), array_agg(s.key ORDER BY n),
            array_agg(s.key_time ORDER BY n), array_agg(s.schedule ORDER BY n),
            array_agg(s.tick ORDER BY n), array_agg(s.tags ORDER BY n)
        FROM json_array_elements(specs::json) WITH ORDINALITY AS e (value, n),
            json_to_record(e.value) AS s (
                queue text, task text, rank smallint, options text, terms text, arguments text,
                asked timestamptz, delay bigint, key text, key_time bigint, schedule text,
                tick timestamptz, tags text
            )
    ) AS a (q, t, r, o, l, k, p, w, d, y, f, s, i, g),
    {schema}.insert_1(a.q, a.t, a.r, a.o, a.l, a.k, a.p, a.w, a.d, a.y, a.f, a.s, a.i, a.g, NULL)
        AS i;
    RETURN QUERY
        SELECT json_build_object('moment', made.moment, 'id', u.id, 'standing', (
            SELECT row_to_json(d) FROM (
                SELECT l.queue, l.task, j.id, j.fence, j.attempt, j.lane, j.rank, j.run_at,
                    j.created_at, encode(j.arguments, 'base64') AS arguments, j.options, j.terms,
                    j.asked_at, j.delay, j.tags, j.dedupe_key, j.dedupe_for, j.schedule, j.tick_at,
                    j.status, j.node, j.started_at, NULL::timestamptz AS finished_at,
                    NULL AS result, j.error, j.progress, j.cancel_requested
                FROM {schema}.jobs AS j JOIN {schema}.lanes AS l ON l.id = j.lane
                WHERE j.id = u.standing
                UNION ALL
                SELECT l.queue, l.task, j.id, j.fence, j.attempt, j.lane, j.rank, j.run_at,
                    j.created_at, encode(j.arguments, 'base64'), j.options, j.terms, j.asked_at,
                    j.delay, j.tags, j.dedupe_key, j.dedupe_for, j.schedule, j.tick_at, j.status,
                    j.node, j.started_at, j.finished_at, encode(j.result, 'base64'), j.error,
                    j.progress, j.cancel_requested
                FROM {schema}.archive AS j JOIN {schema}.lanes AS l ON l.id = j.lane
                WHERE j.id = u.standing
            ) AS d
        ))::text
        FROM unnest(made.ids, made.standing) WITH ORDINALITY AS u (id, standing, n) ORDER BY u.n;
END
$$;
