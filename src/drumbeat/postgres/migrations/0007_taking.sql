-- deploy: before
-- Taking: settle the last batch and claim the next, in one step.

-- Lock the first so many queued jobs of each line; those that others have locked are passed over.
CREATE FUNCTION {schema}.pick_1(lines bigint[], counts bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
    picked bigint[] := '{}';
BEGIN
    FOR i IN 1 .. coalesce(cardinality(lines), 0) LOOP
        picked := picked || ARRAY(
            SELECT j.id FROM {schema}.jobs AS j
            WHERE j.line = lines[i] AND j.status = 'queued'
            ORDER BY j.rank, j.run_at, j.id LIMIT counts[i] FOR UPDATE SKIP LOCKED
        );
    END LOOP;
    RETURN picked;
END
$$;

-- Choose and lock jobs of lines without terms: the best over all of them, if nobody else does so at
-- the same time; else as many, as far as there are.
CREATE FUNCTION {schema}.choose_1(wanted integer[], most integer) RETURNS bigint[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    busy integer[] := wanted;
    lines bigint[];
    counts bigint[];
    picked bigint[];
    number bigint;
BEGIN
    IF cardinality(wanted) > 1 THEN
        busy := ARRAY(
            SELECT w.line FROM unnest(wanted) AS w (line) CROSS JOIN LATERAL (
                SELECT FROM {schema}.jobs AS j
                WHERE j.line = w.line AND j.status = 'queued' LIMIT 1
            ) AS p
        );
    END IF;
    IF cardinality(busy) < 2 THEN
        RETURN {schema}.pick_1(busy, ARRAY[most]);
    END IF;
    SELECT array_agg(p.line), array_agg(p.jobs) INTO lines, counts
    FROM (
        SELECT f.line, count(*) FROM {schema}.first_of_lines_1(busy, most) AS f GROUP BY f.line
    ) AS p (line, jobs);
    picked := {schema}.pick_1(lines, counts);
    IF cardinality(picked) < (SELECT sum(c) FROM unnest(counts) AS c) THEN
        -- Others were faster: take what there is, line by line.
        FOREACH number IN ARRAY busy LOOP
            EXIT WHEN cardinality(picked) >= most;
            picked := picked || ARRAY(
                SELECT j.id FROM {schema}.jobs AS j
                WHERE j.line = number AND j.status = 'queued' AND j.id <> ALL (picked)
                ORDER BY j.rank, j.run_at, j.id LIMIT most - cardinality(picked)
                FOR UPDATE SKIP LOCKED
            );
        END LOOP;
    END IF;
    RETURN picked;
END
$$;

-- The same, but only above a mark in each line and rank: what lies below has been claimed, as far as
-- is known. It spares a claim the dead rows that have not gone away yet.
CREATE FUNCTION {schema}.choose_above_1(
    lines bigint[], ranks smallint[], times timestamptz[], ids bigint[], most integer
) RETURNS bigint[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    picked bigint[] := '{}';
    counts bigint[] := ARRAY[most];
BEGIN
    IF cardinality(lines) > 1 THEN
        counts := ARRAY(
            SELECT count(f.n) FROM generate_series(1, cardinality(lines)) AS g (n)
            LEFT JOIN (
                SELECT m.n
                FROM unnest(lines, ranks, times, ids) WITH ORDINALITY AS m (line, rank, run_at, id, n)
                CROSS JOIN LATERAL (
                    SELECT j.rank, j.run_at, j.id FROM {schema}.jobs AS j
                    WHERE j.line = m.line AND j.rank = m.rank AND j.status = 'queued'
                        AND (j.run_at, j.id) > (m.run_at, m.id)
                    ORDER BY j.run_at, j.id LIMIT most
                ) AS p
                ORDER BY p.rank, p.run_at, p.id LIMIT most
            ) AS f ON f.n = g.n
            GROUP BY g.n ORDER BY g.n
        );
    END IF;
    FOR i IN 1 .. cardinality(lines) LOOP
        CONTINUE WHEN counts[i] = 0;
        picked := picked || ARRAY(
            SELECT j.id FROM {schema}.jobs AS j
            WHERE j.line = lines[i] AND j.rank = ranks[i] AND j.status = 'queued'
                AND (j.run_at, j.id) > (times[i], ids[i])
            ORDER BY j.run_at, j.id LIMIT counts[i] FOR UPDATE SKIP LOCKED
        );
    END LOOP;
    RETURN picked;
END
$$;

-- The effort of choosing jobs so far in this transaction: entries of the index that were read, also
-- dead ones; those that are known to be dead are passed over by the page.
CREATE FUNCTION {schema}.effort_1() RETURNS bigint
LANGUAGE sql AS $$
    SELECT pg_stat_get_xact_tuples_returned('{schema}.jobs_queued'::regclass)
        + 50 * pg_stat_get_xact_blocks_fetched('{schema}.jobs_queued'::regclass)
$$;

-- Settle the last batch, then claim the next. The rows are the attempts, in their order, after one
-- without a number: the store's time as `created_at`, when a rate next lets a job start as
-- `asked_at`, how many microseconds it took to choose as `delay` and with which effort as `attempt`, a
-- `fence` of 1 if that was a whole scan, and as `options`, in JSON, what is unusual. With marks, the
-- scan begins at them; if that yields too little it is a whole one after all, unless `content`.
CREATE FUNCTION {schema}.take_1(
    holder text, queues text[], tasks text[], most integer, ahead integer,
    done bigint[], done_fences integer[], results bytea[], notes text[],
    ended bigint[], fences integer[], changes text[], delays bigint[], outcomes bytea[],
    errors text[], mark_lines bigint[], mark_ranks smallint[], mark_times timestamptz[],
    mark_ids bigint[], content boolean, at timestamptz
)
RETURNS TABLE (
    id bigint, fence integer, attempt integer, lane integer, rank smallint, run_at timestamptz,
    created_at timestamptz, arguments bytea, options text, terms text, asked_at timestamptz,
    delay bigint, tags text[], dedupe_key text, dedupe_for bigint, schedule text,
    tick_at timestamptz
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    wanted integer[];
    limited boolean := false;
    settled record;
    merged record;
    began timestamptz;
    took bigint := 0;
    effort bigint := 0;
    whole boolean := true;
    unusual json;
    picked bigint[];
    try_at timestamptz;
BEGIN
    IF most + ahead > 0 THEN
        wanted := ARRAY(
            SELECT l.id FROM {schema}.lanes AS l
            WHERE l.queue = ANY (queues) AND l.task = ANY (tasks)
        );
        limited := {schema}.are_open_1(wanted, moment);
    END IF;
    IF done IS NOT NULL OR ended IS NOT NULL THEN
        limited := limited OR {schema}.have_terms_1(done || ended);
        IF limited THEN
            PERFORM {schema}.lock_limits_1();
        END IF;
        SELECT s.done_verdicts, s.verdicts INTO settled
        FROM {schema}.settle_all_1(
            done, done_fences, results, notes, ended, fences, changes, delays, outcomes, errors,
            moment
        ) AS s;
        IF settled.done_verdicts IS NOT NULL OR settled.verdicts IS NOT NULL THEN
            unusual := json_build_object('done', settled.done_verdicts, 'ended', settled.verdicts);
        END IF;
    ELSIF limited THEN
        PERFORM {schema}.lock_limits_1();
    END IF;
    limited := limited AND cardinality(wanted) > 0;
    IF limited THEN
        PERFORM {schema}.take_up_1(wanted);
        PERFORM {schema}.reopen_rates_1(wanted, moment);
        SELECT * INTO merged FROM {schema}.merge_1(wanted, most, ahead, holder, moment);
        SELECT {schema}.pick_1(array_agg(c.line), array_agg(c.jobs)) INTO picked
        FROM (
            SELECT m.line, count(*) FROM unnest(merged.lines) AS m (line) GROUP BY m.line
        ) AS c (line, jobs);
        IF merged.again OR cardinality(picked) < cardinality(merged.lines) THEN
            try_at := moment;
        END IF;
        IF merged.cancelled <> '{}' THEN
            unusual := json_build_object(
                'done', unusual -> 'done', 'ended', unusual -> 'ended',
                'cancelled', merged.cancelled
            );
        END IF;
    ELSIF cardinality(wanted) > 0 THEN
        began := clock_timestamp();
        effort := {schema}.effort_1();
        whole := mark_lines IS NULL;
        IF NOT whole THEN
            picked := {schema}.choose_above_1(
                mark_lines, mark_ranks, mark_times, mark_ids, most + ahead
            );
            whole := cardinality(picked) < most + ahead AND NOT content;
        END IF;
        IF whole THEN
            picked := {schema}.choose_1(wanted, most + ahead);
        END IF;
        took := extract(epoch FROM clock_timestamp() - began) * 1000000;
        effort := {schema}.effort_1() - effort;
    END IF;
    IF cardinality(wanted) > 0 THEN
        SELECT least(try_at, min(o.opens_at)) INTO try_at FROM {schema}.openings AS o
        WHERE o.lane = ANY (wanted);
    END IF;
    RETURN QUERY SELECT
        NULL::bigint, whole::integer, least(effort, 2000000000)::integer, NULL::integer, NULL::smallint,
        NULL::timestamptz, moment, NULL::bytea, unusual::text, NULL, try_at, took, NULL::text[],
        NULL, NULL::bigint, NULL, NULL::timestamptz;
    IF cardinality(picked) > 0 THEN
        IF limited THEN
            UPDATE {schema}.jobs AS j SET status = 'running', node = holder, fence = j.fence + 1,
                attempt = j.attempt + 1, started_at = moment, progress = NULL
            WHERE j.id = ANY (picked);
        ELSE
            RETURN QUERY
                WITH claimed AS (
                    UPDATE {schema}.jobs AS j SET status = 'running', node = holder,
                        fence = j.fence + 1, attempt = j.attempt + 1, started_at = moment,
                        progress = NULL
                    WHERE j.id = ANY (picked)
                    RETURNING j.id, j.fence, j.attempt, j.lane, j.rank, j.run_at, j.created_at,
                        j.arguments, j.options, j.terms, j.asked_at, j.delay, j.tags, j.dedupe_key,
                        j.dedupe_for, j.schedule, j.tick_at
                ), told AS (
                    INSERT INTO {schema}.tallies (lane, queued, running)
                    SELECT c.lane, -count(*), count(*) FROM claimed AS c GROUP BY c.lane
                )
                SELECT * FROM claimed AS c ORDER BY c.rank, c.run_at, c.id;
            RETURN;
        END IF;
        INSERT INTO {schema}.tallies (lane, queued, running)
        SELECT j.lane, -count(*), count(*) FROM {schema}.jobs AS j
        WHERE j.id = ANY (picked) GROUP BY j.lane;
    END IF;
    IF limited THEN
        RETURN QUERY
            SELECT j.id, j.fence, j.attempt, j.lane, j.rank, j.run_at, j.created_at, j.arguments,
                j.options, j.terms, j.asked_at, j.delay, j.tags, j.dedupe_key, j.dedupe_for,
                j.schedule, j.tick_at
            FROM {schema}.jobs AS j
            WHERE j.id = ANY (merged.started || picked)
            ORDER BY array_position(merged.chosen, j.id), j.rank, j.run_at, j.id;
    END IF;
END
$$;

-- Whether any line with terms may have something to start.
CREATE FUNCTION {schema}.are_open_1(wanted integer[], moment timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM {schema}.arrivals WHERE lane = ANY (wanted)) THEN
        RETURN true;
    END IF;
    IF NOT EXISTS (SELECT FROM {schema}.fronts) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM {schema}.fronts WHERE parked IS NULL AND lane = ANY (wanted)
    ) OR EXISTS (
        SELECT FROM {schema}.openings WHERE lane = ANY (wanted) AND opens_at <= moment
    );
END
$$;
