-- deploy: before
-- Committing what a leader has planned; editing and backfilling schedules; the fence.
--
-- What is looked up for each row is a value and not an EXISTS, which the planner would answer by
-- reading the whole table once.

-- Write each plan whole whose schedule still stands as it was read, if the epoch holds the fence;
-- `seen` is the epoch that does, if another one, and then nothing was written. Plans of one schedule
-- that follow each other have rising rounds; null: there are none. `written` says which plans were,
-- `ids` which jobs their fires became.
CREATE FUNCTION {schema}.commit_1(
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
    moment timestamptz := coalesce(at, clock_timestamp());
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

-- Runs of ticks that did not fire, of those owners that stand.
CREATE FUNCTION {schema}.record_skips_1(
    names text[], stands boolean[], owners integer[], starts timestamptz[],
    throughs timestamptz[], counts bigint[], reasons text[], leader text, epoch bigint,
    moment timestamptz
) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO {schema}.ticks (
        schedule, tick_at, number, recorded_at, through, count, reason, leader, epoch
    )
    SELECT names[k.owner], k.start, nextval('{schema}.tick_numbers'), moment, k.through, k.count,
        k.reason, leader, epoch
    FROM unnest(owners, starts, throughs, counts, reasons)
        AS k (owner, start, through, count, reason)
    WHERE stands[k.owner]
$$;

-- Fire past ticks by hand; `ids` has null for each that had fired, and is null if there is no such
-- schedule.
CREATE FUNCTION {schema}.backfill_1(
    of_schedule text, fire_ticks timestamptz[],
    queues text[], tasks text[], ranks smallint[], all_options text[], all_terms text[],
    kinds integer[], all_arguments bytea[], asked timestamptz[], delays bigint[], keys text[],
    key_times bigint[], schedules text[], ticks timestamptz[], all_tags text[], at timestamptz
) RETURNS bigint[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    ids bigint[];
BEGIN
    PERFORM FROM {schema}.schedules AS s WHERE s.name = of_schedule FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    ids := ARRAY(
        SELECT CASE
            WHEN f.turn = 1 AND (
                SELECT t.number FROM {schema}.ticks AS t
                WHERE t.schedule = of_schedule AND t.tick_at = f.tick AND t.number = 0
            ) IS NULL THEN nextval('{schema}.job_ids')
        END
        FROM (
            SELECT u.*, row_number() OVER (PARTITION BY u.tick ORDER BY u.n) AS turn
            FROM unnest(fire_ticks) WITH ORDINALITY AS u (tick, n)
            ORDER BY u.n
        ) AS f
    );
    PERFORM {schema}.create_jobs_1(
        ids, queues, tasks, ranks, all_options, all_terms, kinds, all_arguments, asked, delays,
        keys, key_times, schedules, ticks, all_tags, moment
    );
    INSERT INTO {schema}.ticks (
        schedule, tick_at, number, recorded_at, through, count, job, backfilled
    )
    SELECT of_schedule, f.tick, 0, moment, f.tick, 1, f.id, true
    FROM unnest(ids, fire_ticks) AS f (id, tick) WHERE f.id IS NOT NULL;
    RETURN ids;
END
$$;

-- Apply each edit whose `before` still stands; which they were. A version before of null: there was
-- no such schedule. A definition of null: it is removed. Edits come in the order of their names.
CREATE FUNCTION {schema}.put_1(
    names text[], versions_before bigint[], cursors_before timestamptz[],
    definitions text[], versions bigint[], cursors timestamptz[], next_ticks timestamptz[],
    created timestamptz[], updated timestamptz[], origins text[], all_declared text[],
    all_paused boolean[], reasons text[], all_runs bigint[], last_jobs bigint[], all_skips text[],
    skip_edits integer[], skip_ticks timestamptz[], skip_throughs timestamptz[],
    skip_counts bigint[], skip_reasons text[], at timestamptz
) RETURNS boolean[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    stands boolean[] := '{}';
    earliest timestamptz;
BEGIN
    SELECT min(s.next_tick) INTO earliest FROM {schema}.schedules AS s
    WHERE s.next_tick IS NOT NULL;
    FOR i IN 1 .. cardinality(names) LOOP
        IF definitions[i] IS NULL THEN
            DELETE FROM {schema}.schedules AS s WHERE s.name = names[i]
                AND s.version = versions_before[i] AND s.cursor = cursors_before[i];
        ELSIF versions_before[i] IS NULL THEN
            INSERT INTO {schema}.schedules VALUES (
                names[i], definitions[i], versions[i], cursors[i], next_ticks[i], created[i],
                updated[i], origins[i], all_declared[i], all_paused[i], reasons[i], all_runs[i],
                last_jobs[i], all_skips[i]::timestamptz[]
            ) ON CONFLICT DO NOTHING;
        ELSE
            UPDATE {schema}.schedules AS s SET
                definition = definitions[i], version = versions[i], cursor = cursors[i],
                next_tick = next_ticks[i], created_at = created[i], updated_at = updated[i],
                origin = origins[i], declared = all_declared[i], paused = all_paused[i],
                pause_reason = reasons[i], runs = all_runs[i], last_job = last_jobs[i],
                skips = all_skips[i]::timestamptz[]
            WHERE s.name = names[i]
                AND s.version = versions_before[i] AND s.cursor = cursors_before[i];
        END IF;
        stands := stands || FOUND;
        IF FOUND AND next_ticks[i] < coalesce(earliest, 'infinity') THEN
            earliest := next_ticks[i];
            PERFORM pg_notify({channels} || 'times', '');
        END IF;
    END LOOP;
    PERFORM {schema}.record_skips_1(
        names, stands, skip_edits, skip_ticks, skip_throughs, skip_counts, skip_reasons,
        NULL, NULL, moment
    );
    RETURN stands;
END
$$;

-- Turn a lease into an epoch, if its token is above all that were seen of its domain.
CREATE FUNCTION {schema}.claim_fence_1(
    of_election text, of_domain text, new_token bigint, new_holder text,
    OUT claimed boolean, OUT number bigint
)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.fence_tokens AS t (election, domain, token)
    VALUES (of_election, of_domain, new_token)
    ON CONFLICT (election, domain) DO UPDATE SET token = excluded.token
    WHERE t.token < excluded.token;
    claimed := FOUND;
    IF claimed THEN
        INSERT INTO {schema}.fence AS f (election, epoch, domain, token, holder)
        VALUES (of_election, 1, of_domain, new_token, new_holder)
        ON CONFLICT (election) DO UPDATE SET epoch = f.epoch + 1, domain = excluded.domain,
            token = excluded.token, holder = excluded.holder
        RETURNING f.epoch INTO number;
    ELSE
        SELECT f.epoch INTO number FROM {schema}.fence AS f WHERE f.election = of_election;
        number := coalesce(number, 0);
    END IF;
END
$$;
