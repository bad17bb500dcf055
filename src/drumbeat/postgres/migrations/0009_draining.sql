-- deploy: before
-- Taking and settling at less cost for the usual job, which completed at its first claim and has
-- nothing to tell: no result and no note. The numbers of such jobs come as one text, `{1,2,3}`.

-- Close attempts: first those that completed their jobs, the usual ones apart, then the others;
-- each in the order of their numbers, so that nobody waits in a circle. Arrays that would be empty
-- are null. The answer has a verdict for each: how the job stands, null where the hold was over;
-- null in place of the verdicts if all of them are completed, as nearly always.
CREATE FUNCTION {schema}.settle_all_2(
    plain bigint[], done bigint[], done_fences integer[], results bytea[], notes text[],
    ended bigint[], fences integer[], changes text[], delays bigint[], outcomes bytea[],
    errors text[], moment timestamptz,
    OUT plain_verdicts text[], OUT done_verdicts text[], OUT verdicts text[]
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    completed bigint[];
    freed text[];
    freed_too text[];
    left_terms text[];
    stands text;
BEGIN
    IF num_nonnulls(nullif(plain, '{}'), nullif(done, '{}'), nullif(ended, '{}')) > 1 THEN
        PERFORM FROM {schema}.jobs AS j
        WHERE j.id = ANY (plain || done || ended) ORDER BY j.id FOR UPDATE;
    END IF;
    IF cardinality(plain) > 0 THEN
        WITH gone AS (
            DELETE FROM {schema}.jobs AS j
            WHERE j.id = ANY (plain) AND j.fence = 1 AND j.node IS NOT NULL
            RETURNING j.*
        ), kept AS (
            INSERT INTO {schema}.archive (
                id, run_at, created_at, finished_at, started_at, asked_at, tick_at, guarded_until,
                delay, dedupe_for, lane, attempt, fence, rank, cancel_requested, status, arguments,
                options, terms, tags, dedupe_key, schedule, node, progress
            )
            SELECT
                id, run_at, created_at, moment, started_at, asked_at, tick_at,
                CASE WHEN dedupe_key IS NOT NULL THEN
                    moment + coalesce(dedupe_for, 86400000000) * interval '1 microsecond'
                END,
                delay, dedupe_for, lane, attempt, fence, rank, cancel_requested, 'completed',
                arguments, options, terms, tags, dedupe_key, schedule, node, progress
            FROM gone
        ), told AS (
            INSERT INTO {schema}.tallies (lane, running, completed)
            SELECT lane, -count(*), count(*) FROM gone GROUP BY lane
        )
        SELECT array_agg(id), array_agg(terms) FILTER (WHERE terms IS NOT NULL)
        INTO completed, freed FROM gone;
        IF completed IS NOT NULL THEN
            PERFORM pg_notify({channels} || 'finished', '');
        END IF;
        IF cardinality(completed) IS DISTINCT FROM cardinality(plain) THEN
            plain_verdicts := ARRAY(
                SELECT CASE WHEN s.id = ANY (completed) THEN 'completed' END
                FROM unnest(plain) AS s (id)
            );
        END IF;
    END IF;
    IF cardinality(done) > 0 THEN
        WITH gone AS (
            DELETE FROM {schema}.jobs AS j
            USING unnest(done, done_fences, results, notes) AS s (id, fence, result, note)
            WHERE j.id = s.id AND j.fence = s.fence AND j.node IS NOT NULL
            RETURNING j.*, s.result, s.note
        ), kept AS (
            INSERT INTO {schema}.archive (
                id, run_at, created_at, finished_at, started_at, asked_at, tick_at, guarded_until,
                delay, dedupe_for, lane, attempt, fence, rank, cancel_requested, status, arguments,
                options, terms, tags, dedupe_key, schedule, node, result, error, progress
            )
            SELECT
                id, run_at, created_at, moment, started_at, asked_at, tick_at,
                CASE WHEN dedupe_key IS NOT NULL THEN
                    moment + coalesce(dedupe_for, 86400000000) * interval '1 microsecond'
                END,
                delay, dedupe_for, lane, attempt, fence, rank, cancel_requested, 'completed',
                arguments, options, terms, tags, dedupe_key, schedule, node, result, note, progress
            FROM gone
            RETURNING id, lane, terms
        ), told AS (
            INSERT INTO {schema}.tallies (lane, running, completed)
            SELECT lane, -count(*), count(*) FROM kept GROUP BY lane
        )
        SELECT array_agg(id), array_agg(terms) FILTER (WHERE terms IS NOT NULL)
        INTO completed, freed_too FROM kept;
        freed := freed || freed_too;
        IF completed IS NOT NULL THEN
            PERFORM pg_notify({channels} || 'finished', '');
        END IF;
        IF cardinality(completed) IS DISTINCT FROM cardinality(done) THEN
            done_verdicts := ARRAY(
                SELECT CASE WHEN s.id = ANY (completed) THEN 'completed' END
                FROM unnest(done) AS s (id)
            );
        END IF;
    END IF;
    IF cardinality(ended) > 0 THEN
        verdicts := '{}';
        FOR i IN 1 .. cardinality(ended) LOOP
            SELECT ARRAY[j.terms] INTO left_terms FROM {schema}.jobs AS j
            WHERE j.id = ended[i] AND j.fence = fences[i] AND j.terms IS NOT NULL;
            stands := {schema}.settle_one_1(
                ended[i], fences[i], changes[i], delays[i], outcomes[i], errors[i], moment
            );
            verdicts := verdicts || stands;
            IF stands IS NOT NULL AND left_terms IS NOT NULL THEN
                freed := freed || left_terms;
            END IF;
            IF stands IN ('failed', 'cancelled') THEN
                PERFORM pg_notify({channels} || 'finished', '');
            END IF;
        END LOOP;
    END IF;
    IF freed IS NOT NULL THEN
        PERFORM {schema}.free_1(freed);
    END IF;
END
$$;

-- The same as a step of its own.
CREATE FUNCTION {schema}.settle_2(
    usual text, done bigint[], done_fences integer[], results bytea[], notes text[],
    ended bigint[], fences integer[], changes text[], delays bigint[], outcomes bytea[],
    errors text[], at timestamptz,
    OUT plain_verdicts text[], OUT done_verdicts text[], OUT verdicts text[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    plain bigint[] := usual::bigint[];
BEGIN
    IF {schema}.have_terms_1(plain || done || ended) THEN
        PERFORM {schema}.lock_limits_1();
    END IF;
    SELECT s.plain_verdicts, s.done_verdicts, s.verdicts
    INTO plain_verdicts, done_verdicts, verdicts
    FROM {schema}.settle_all_2(
        plain, done, done_fences, results, notes, ended, fences, changes, delays, outcomes, errors,
        coalesce(at, clock_timestamp())
    ) AS s;
END
$$;

-- Settle the last batch, then claim the next. The rows are the attempts, in their order, after one
-- without a number: the store's time as `created_at`, when a rate next lets a job start as
-- `asked_at`, how many microseconds it took to choose as `delay` and with which effort as `attempt`, a
-- `fence` of 1 if that was a whole scan, and as `options`, in JSON, what is unusual. With marks, the
-- scan begins at them; if that yields too little it is a whole one after all, unless `content`.
-- `run_at` and `created_at` are seconds since 1970: reading an instant takes the client far longer,
-- and until the year 2242 a double is good to the microsecond.
CREATE FUNCTION {schema}.take_2(
    holder text, queues text[], tasks text[], most integer, ahead integer,
    usual text, done bigint[], done_fences integer[], results bytea[], notes text[],
    ended bigint[], fences integer[], changes text[], delays bigint[], outcomes bytea[],
    errors text[], mark_lines bigint[], mark_ranks smallint[], mark_times timestamptz[],
    mark_ids bigint[], content boolean, at timestamptz
)
RETURNS TABLE (
    id bigint, fence integer, attempt integer, lane integer, rank smallint,
    run_at double precision, created_at double precision, arguments bytea, options text, terms text,
    asked_at timestamptz, delay bigint, tags text[], dedupe_key text, dedupe_for bigint,
    schedule text, tick_at timestamptz
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    plain bigint[] := usual::bigint[];
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
    IF plain IS NOT NULL OR done IS NOT NULL OR ended IS NOT NULL THEN
        limited := limited OR {schema}.have_terms_1(plain || done || ended);
        IF limited THEN
            PERFORM {schema}.lock_limits_1();
        END IF;
        SELECT s.* INTO settled
        FROM {schema}.settle_all_2(
            plain, done, done_fences, results, notes, ended, fences, changes, delays, outcomes,
            errors, moment
        ) AS s;
        IF num_nonnulls(settled.plain_verdicts, settled.done_verdicts, settled.verdicts) > 0 THEN
            unusual := json_build_object(
                'plain', settled.plain_verdicts, 'done', settled.done_verdicts,
                'ended', settled.verdicts
            );
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
                'plain', unusual -> 'plain', 'done', unusual -> 'done',
                'ended', unusual -> 'ended', 'cancelled', merged.cancelled
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
        NULL::double precision, date_part('epoch', moment), NULL::bytea, unusual::text, NULL, try_at,
        took, NULL::text[], NULL, NULL::bigint, NULL, NULL::timestamptz;
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
                SELECT c.id, c.fence, c.attempt, c.lane, c.rank, date_part('epoch', c.run_at),
                    date_part('epoch', c.created_at), c.arguments, c.options, c.terms, c.asked_at,
                    c.delay, c.tags, c.dedupe_key, c.dedupe_for, c.schedule, c.tick_at
                FROM claimed AS c ORDER BY c.rank, c.run_at, c.id;
            RETURN;
        END IF;
        INSERT INTO {schema}.tallies (lane, queued, running)
        SELECT j.lane, -count(*), count(*) FROM {schema}.jobs AS j
        WHERE j.id = ANY (picked) GROUP BY j.lane;
    END IF;
    IF limited THEN
        RETURN QUERY
            SELECT j.id, j.fence, j.attempt, j.lane, j.rank, date_part('epoch', j.run_at),
                date_part('epoch', j.created_at), j.arguments, j.options, j.terms, j.asked_at,
                j.delay, j.tags, j.dedupe_key, j.dedupe_for, j.schedule, j.tick_at
            FROM {schema}.jobs AS j
            WHERE j.id = ANY (merged.started || picked)
            ORDER BY array_position(merged.chosen, j.id), j.rank, j.run_at, j.id;
    END IF;
END
$$;
