-- deploy: before
-- Instants are read after the locks were won.
--
-- A function that read the clock first and then waited wrote down an instant before the end of what it
-- had waited for: a job's start lay before the end of the one whose limit it had waited for. The
-- functions keep their names and arguments, so older nodes call these too.

-- Settle the last batch, then claim the next; migration 9 says what the rows are. The clock is read
-- again after each wait: the jobs start when they are claimed, and not when the claim was asked for.
CREATE OR REPLACE FUNCTION {schema}.take_2(
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
            moment := coalesce(at, clock_timestamp());
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
        moment := coalesce(at, clock_timestamp());
    END IF;
    limited := limited AND cardinality(wanted) > 0;
    IF limited THEN
        moment := coalesce(at, clock_timestamp());
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
        moment := coalesce(at, clock_timestamp());
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

-- Write each plan whole whose schedule still stands; migration 8 says more.
CREATE OR REPLACE FUNCTION {schema}.commit_1(
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
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
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
    -- In one order for everybody, so that nobody waits in a circle.
    PERFORM FROM {schema}.schedules AS s WHERE s.name = ANY (names) ORDER BY s.name FOR UPDATE;
    moment := coalesce(at, clock_timestamp());
    FOR this_round IN 0 .. coalesce((SELECT max(r) FROM unnest(rounds) AS r), 0) LOOP
        -- By version and cursor only: ten thousand schedules may share their next tick.
        stands := ARRAY(
            SELECT coalesce(p.round, 0) = this_round AND s.name IS NOT NULL AND (
                p.assumes IS NULL
                OR p.assumes
                    = ((SELECT j.id FROM {schema}.jobs AS j WHERE j.id = s.last_job) IS NOT NULL)
            )
            FROM unnest(names, versions, cursors, assumes, rounds) WITH ORDINALITY
                AS p (name, version, cursor, assumes, round, n)
            LEFT JOIN {schema}.schedules AS s ON s.name = p.name
                AND s.version IS NOT DISTINCT FROM p.version
                AND s.cursor IS NOT DISTINCT FROM p.cursor
            ORDER BY p.n
        );
        fired := ARRAY(
            SELECT CASE
                WHEN stands[f.plan] AND f.turn = 1 AND (
                    SELECT t.number FROM {schema}.ticks AS t
                    WHERE t.schedule = names[f.plan] AND t.tick_at = f.tick AND t.number = 0
                ) IS NULL THEN nextval('{schema}.job_ids')
            END
            FROM (
                SELECT u.*, row_number() OVER (PARTITION BY u.plan, u.tick ORDER BY u.n) AS turn
                FROM unnest(fire_plans, fire_ticks) WITH ORDINALITY AS u (plan, tick, n)
                ORDER BY u.n
            ) AS f
        );
        IF cardinality(fired) > 0 THEN
            PERFORM {schema}.create_jobs_1(
                fired, queues, tasks, ranks, all_options, all_terms, kinds, all_arguments, asked,
                delays, keys, key_times, schedules, ticks, all_tags, moment
            );
            INSERT INTO {schema}.ticks (
                schedule, tick_at, number, recorded_at, through, count, job, leader, epoch
            )
            SELECT names[f.plan], f.tick, 0, moment, f.tick, 1, f.id, leader, our_epoch
            FROM unnest(fired, fire_plans, fire_ticks) AS f (id, plan, tick)
            WHERE f.id IS NOT NULL;
        END IF;
        PERFORM {schema}.record_skips_1(
            names, stands, skip_plans, skip_ticks, skip_throughs, skip_counts, skip_reasons,
            leader, our_epoch, moment
        );
        replaced := ARRAY(
            SELECT DISTINCT c.job FROM unnest(cancel_plans, cancels) AS c (plan, job)
            WHERE stands[c.plan] ORDER BY c.job
        );
        IF replaced <> '{}' THEN
            PERFORM {schema}.cancel_1(replaced, 'replaced by a later tick of its schedule', moment);
        END IF;
        SELECT array_agg(f.jobs ORDER BY f.plan), array_agg(f.last ORDER BY f.plan)
        INTO counts, lasts
        FROM (
            SELECT a.plan, count(a.id), max(a.id) FROM (
                SELECT u.plan, u.id FROM unnest(fire_plans, fired) AS u (plan, id)
                UNION ALL SELECT g, NULL FROM generate_series(1, cardinality(names)) AS g
            ) AS a GROUP BY a.plan
        ) AS f (plan, jobs, last);
        UPDATE {schema}.schedules AS s SET
            cursor = p.moved, next_tick = p.next_tick, runs = s.runs + p.jobs,
            last_job = coalesce(p.last, s.last_job),
            skips = CASE WHEN s.skips IS NOT NULL THEN
                nullif(ARRAY(SELECT k FROM unnest(s.skips) AS k WHERE k > p.moved ORDER BY k), '{}')
            END
        FROM unnest(names, moved, next_ticks, stands, counts, lasts)
            AS p (name, moved, next_tick, stands, jobs, last)
        WHERE s.name = p.name AND p.stands;
        written := ARRAY(SELECT w.a IS TRUE OR w.b FROM unnest(written, stands) AS w (a, b));
        ids := ARRAY(SELECT coalesce(w.a, w.b) FROM unnest(ids, fired) AS w (a, b));
    END LOOP;
END
$$;

-- End waiting jobs as cancelled, and mark running ones. For each, in the order of the numbers: how
-- it stood before, null for a job that does not exist.
CREATE OR REPLACE FUNCTION {schema}.cancel_1(ids bigint[], reason text, at timestamptz) RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    statuses text[] := '{}';
    job record;
    number bigint;
BEGIN
    FOREACH number IN ARRAY ids LOOP
        SELECT j.status, j.lane INTO job FROM {schema}.jobs AS j WHERE j.id = number FOR UPDATE;
        IF NOT FOUND THEN
            SELECT a.status, a.lane INTO job FROM {schema}.archive AS a WHERE a.id = number;
        ELSIF job.status = 'running' THEN
            UPDATE {schema}.jobs SET cancel_requested = true, error = nullif(reason, '')
            WHERE id = number;
            PERFORM pg_notify({channels} || 'cancellations', '');
        ELSE
            PERFORM {schema}.finish_1(
                number, 'cancelled', nullif(reason, ''), NULL, coalesce(at, clock_timestamp())
            );
            INSERT INTO {schema}.tallies (lane, pending, queued, cancelled)
            VALUES (job.lane, -(job.status = 'pending')::int, -(job.status = 'queued')::int, 1);
            PERFORM pg_notify({channels} || 'finished', '');
        END IF;
        statuses := statuses || job.status;
    END LOOP;
    RETURN statuses;
END
$$;

-- Create jobs, but for those whose dedupe key is taken: these have the number of the job that
-- stands for it in `standing`. A key may be locked for as long as a caller's own transaction lasts.
CREATE OR REPLACE FUNCTION {schema}.insert_1(
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
    IF keys IS NULL THEN
        moment := coalesce(at, clock_timestamp());
        ids := ARRAY(
            SELECT nextval('{schema}.job_ids') FROM generate_series(1, cardinality(kinds))
        );
    ELSE
        -- In one order for everybody, so that nobody waits in a circle.
        PERFORM pg_advisory_xact_lock(k.lock) FROM (
            SELECT DISTINCT hashtextextended({channels} || 'key ' || u.key, 0)
            FROM unnest(keys) AS u (key) WHERE u.key IS NOT NULL ORDER BY 1
        ) AS k (lock);
        moment := coalesce(at, clock_timestamp());
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

-- Note that a node is alive for another while, and how its attempts go on. The rows are its holds that
-- are current; there is at least one row. A reaping of the node may hold its row for a while.
CREATE OR REPLACE FUNCTION {schema}.beat_1(
    of_node text, described text, lifetime bigint, at timestamptz,
    held bigint[], held_fences integer[],
    moved bigint[], moved_fences integer[], all_progress text[]
)
RETURNS TABLE (
    beat_at timestamptz, drains boolean, id bigint, fence integer, cancel_requested boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz;
    asked_to_drain boolean;
BEGIN
    PERFORM FROM {schema}.nodes AS n WHERE n.id = of_node FOR UPDATE;
    moment := coalesce(at, clock_timestamp());
    INSERT INTO {schema}.nodes AS n (id, node, beat_at, expires_at)
    VALUES (of_node, described, moment, moment + lifetime * interval '1 microsecond')
    ON CONFLICT (id) DO UPDATE
    SET node = excluded.node, beat_at = excluded.beat_at, expires_at = excluded.expires_at
    RETURNING n.drain_requested INTO asked_to_drain;
    IF cardinality(moved) > 0 THEN
        UPDATE {schema}.jobs AS j SET progress = p.progress
        FROM unnest(moved, moved_fences, all_progress) AS p (id, fence, progress)
        WHERE j.id = p.id AND j.fence = p.fence AND j.node IS NOT NULL;
    END IF;
    RETURN QUERY
    SELECT moment, asked_to_drain, h.id, h.fence, h.cancel_requested
    FROM (SELECT) AS always LEFT JOIN LATERAL (
        SELECT j.id, j.fence, j.cancel_requested
        FROM unnest(held, held_fences) AS w (id, fence)
        JOIN {schema}.jobs AS j ON j.id = w.id AND j.fence = w.fence AND j.node IS NOT NULL
    ) AS h ON true;
END
$$;
