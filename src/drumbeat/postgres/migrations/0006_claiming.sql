-- deploy: before
-- Claiming: which queued jobs a worker gets next.

-- Take up what has arrived in some lanes: lines with terms that have queued jobs.
CREATE FUNCTION {schema}.take_up_1(wanted integer[]) RETURNS void
LANGUAGE sql AS $$
    WITH come AS (
        DELETE FROM {schema}.arrivals WHERE lane = ANY (wanted) RETURNING *
    )
    INSERT INTO {schema}.fronts AS f (
        line, lane, rank, run_at, id, keys, allowed, yields, rate, rate_key, spacing, burst
    )
    SELECT DISTINCT ON (c.line)
        c.line, c.lane, c.rank, c.run_at, c.id,
        ARRAY(SELECT l ->> 0 FROM json_array_elements(c.terms::json -> 0) AS l),
        ARRAY(SELECT (l ->> 1)::integer FROM json_array_elements(c.terms::json -> 0) AS l),
        ARRAY(SELECT l ->> 2 = 'cancel' FROM json_array_elements(c.terms::json -> 0) AS l),
        CASE WHEN c.terms::json ->> 1 IS NOT NULL THEN 'rate:' || (c.terms::json ->> 1) END,
        c.terms::json -> 1 ->> 0,
        (c.terms::json -> 1 ->> 3)::bigint,
        (c.terms::json -> 1 ->> 3)::bigint * ((c.terms::json -> 1 ->> 1)::bigint - 1)
    FROM come AS c
    ORDER BY c.line, c.rank, c.run_at, c.id
    ON CONFLICT (line) DO UPDATE
    SET rank = excluded.rank, run_at = excluded.run_at, id = excluded.id
    WHERE (excluded.rank, excluded.run_at, excluded.id)
        < (f.rank, f.run_at, f.id)
$$;

-- Let in one line of each rate of some lanes whose time has come.
CREATE FUNCTION {schema}.reopen_rates_1(wanted integer[], moment timestamptz) RETURNS void
LANGUAGE sql AS $$
    WITH due AS (
        DELETE FROM {schema}.openings WHERE lane = ANY (wanted) AND opens_at <= moment
        RETURNING lane, parked
    )
    UPDATE {schema}.fronts AS f SET parked = NULL
    FROM due
    WHERE f.line = (
        SELECT g.line FROM {schema}.fronts AS g
        WHERE g.parked = due.parked AND g.lane = due.lane AND g.at_most = 0
        ORDER BY g.rank, g.run_at, g.id LIMIT 1
    )
$$;

-- What a line with terms may do now: start, cancel its first job, or be parked under something.
CREATE FUNCTION {schema}.judge_1(
    front {schema}.fronts, moment timestamptz,
    OUT verdict text, OUT parked_under text, OUT allows integer, OUT opens timestamptz
)
LANGUAGE plpgsql AS $$
DECLARE
    running integer;
    gives_way boolean := false;
BEGIN
    IF front.rate IS NOT NULL THEN
        SELECT pace - front.burst * interval '1 microsecond' INTO opens
        FROM {schema}.paces WHERE key = front.rate_key;
        IF opens > moment THEN
            verdict := 'park';
            parked_under := front.rate;
            allows := 0;
            RETURN;
        END IF;
    END IF;
    opens := NULL;
    FOR i IN 1 .. cardinality(front.keys) LOOP
        SELECT h.running INTO running FROM {schema}.holdings AS h WHERE h.key = front.keys[i];
        IF running >= front.allowed[i] THEN
            IF NOT front.yields[i] THEN
                verdict := 'park';
                parked_under := 'limit:' || front.keys[i];
                allows := front.allowed[i];
                RETURN;
            END IF;
            gives_way := true;
        END IF;
    END LOOP;
    -- Only now is it the job's turn: until here, something made it wait.
    verdict := CASE WHEN gives_way THEN 'cancel' ELSE 'start' END;
END
$$;

-- Count a job of the line that starts, and spend its rate.
CREATE FUNCTION {schema}.spend_1(front {schema}.fronts, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(front.keys) > 0 THEN
        INSERT INTO {schema}.holdings AS h (key, running)
        SELECT k.key, count(*) FROM unnest(front.keys) AS k (key) GROUP BY k.key
        ON CONFLICT (key) DO UPDATE SET running = h.running + excluded.running;
    END IF;
    IF front.rate IS NOT NULL THEN
        INSERT INTO {schema}.paces AS p (key, pace)
        VALUES (front.rate_key, moment + front.spacing * interval '1 microsecond')
        ON CONFLICT (key) DO UPDATE
        SET pace = greatest(p.pace, moment) + front.spacing * interval '1 microsecond';
    END IF;
END
$$;

-- The first queued jobs over some lines without terms, in their order. Nothing is locked.
CREATE FUNCTION {schema}.first_of_lines_1(wanted integer[], most integer)
RETURNS TABLE (line bigint, rank smallint, run_at timestamptz, id bigint)
LANGUAGE sql STABLE AS $$
    SELECT p.line, p.rank, p.run_at, p.id
    FROM unnest(wanted) AS w (line) CROSS JOIN LATERAL (
        SELECT j.line, j.rank, j.run_at, j.id FROM {schema}.jobs AS j
        WHERE j.line = w.line AND j.status = 'queued'
        ORDER BY j.rank, j.run_at, j.id LIMIT most
    ) AS p
    ORDER BY p.rank, p.run_at, p.id LIMIT most
$$;

-- Choose jobs of lanes where lines with terms are open: these lines and the jobs without terms are
-- taken in one order, the best first. Jobs with terms are started here. Of the others only how many
-- of each line are to be claimed is told, since others may claim them at the same time.
CREATE FUNCTION {schema}.merge_1(
    wanted integer[], most integer, ahead integer, holder text, moment timestamptz,
    OUT chosen bigint[], OUT started bigint[], OUT cancelled bigint[], OUT lines bigint[],
    OUT again boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    plain_lines bigint[];
    plain_ranks smallint[];
    plain_times timestamptz[];
    plain_ids bigint[];
    next_plain integer := 1;
    front {schema}.fronts;
    job record;
    judged record;
BEGIN
    chosen := '{}';
    started := '{}';
    cancelled := '{}';
    lines := '{}';
    again := false;
    SELECT array_agg(p.line), array_agg(p.rank), array_agg(p.run_at), array_agg(p.id)
    INTO plain_lines, plain_ranks, plain_times, plain_ids
    FROM {schema}.first_of_lines_1(wanted, most + ahead) AS p;
    WHILE cardinality(chosen) < most + ahead LOOP
        SELECT f.* INTO front FROM {schema}.fronts AS f
        WHERE f.parked IS NULL AND f.lane = ANY (wanted)
        ORDER BY f.rank, f.run_at, f.id LIMIT 1;
        IF next_plain <= cardinality(plain_ids) AND (
            front.line IS NULL
            OR (plain_ranks[next_plain], plain_times[next_plain], plain_ids[next_plain])
                < (front.rank, front.run_at, front.id)
        ) THEN
            chosen := chosen || plain_ids[next_plain];
            lines := lines || plain_lines[next_plain];
            next_plain := next_plain + 1;
            CONTINUE;
        END IF;
        -- Beyond what can start at once, a job with terms may start, but not be held.
        EXIT WHEN front.line IS NULL OR cardinality(chosen) >= most;
        IF cardinality(cancelled) >= 1000 THEN
            again := true;
            EXIT;
        END IF;
        SELECT j.id, j.rank, j.run_at, j.lane INTO job FROM {schema}.jobs AS j
        WHERE j.line = front.line AND j.status = 'queued'
        ORDER BY j.rank, j.run_at, j.id LIMIT 1 FOR UPDATE SKIP LOCKED;
        IF job.id IS NULL THEN
            -- If somebody has locked the last one and lets it wait after all, it arrives anew.
            INSERT INTO {schema}.arrivals (line, lane, terms, rank, run_at, id)
            SELECT j.line, j.lane, j.terms, j.rank, j.run_at, j.id FROM {schema}.jobs AS j
            WHERE j.line = front.line AND j.status = 'queued'
            ORDER BY j.rank, j.run_at, j.id LIMIT 1;
            again := again OR FOUND;
            DELETE FROM {schema}.fronts WHERE line = front.line;
            PERFORM {schema}.replace_1(front, moment);
            CONTINUE;
        END IF;
        IF job.id <> front.id OR job.run_at <> front.run_at THEN
            -- Who stood in front has left; look again at this one's turn.
            UPDATE {schema}.fronts SET rank = job.rank, run_at = job.run_at, id = job.id
            WHERE line = front.line;
            CONTINUE WHEN (job.rank, job.run_at, job.id) > (front.rank, front.run_at, front.id);
        END IF;
        SELECT * INTO judged FROM {schema}.judge_1(front, moment);
        IF judged.verdict = 'park' THEN
            UPDATE {schema}.fronts SET parked = judged.parked_under, at_most = judged.allows
            WHERE line = front.line;
            IF judged.opens IS NOT NULL THEN
                INSERT INTO {schema}.openings VALUES (front.lane, front.rate, judged.opens)
                ON CONFLICT DO NOTHING;
            END IF;
        ELSE
            IF judged.verdict = 'start' THEN
                UPDATE {schema}.jobs AS j SET status = 'running', node = holder, progress = NULL,
                    fence = j.fence + 1, attempt = j.attempt + 1, started_at = moment
                WHERE j.id = job.id;
                PERFORM {schema}.spend_1(front, moment);
                INSERT INTO {schema}.tallies (lane, queued, running) VALUES (job.lane, -1, 1);
                chosen := chosen || job.id;
                started := started || job.id;
            ELSE
                PERFORM {schema}.finish_1(
                    job.id, 'cancelled', 'its limit was reached when its turn came', NULL, moment
                );
                INSERT INTO {schema}.tallies (lane, queued, cancelled) VALUES (job.lane, -1, 1);
                PERFORM pg_notify({channels} || 'finished', '');
                cancelled := cancelled || job.id;
            END IF;
            SELECT j.id, j.rank, j.run_at INTO job FROM {schema}.jobs AS j
            WHERE j.line = front.line AND j.status = 'queued'
            ORDER BY j.rank, j.run_at, j.id LIMIT 1;
            IF job.id IS NULL THEN
                DELETE FROM {schema}.fronts WHERE line = front.line;
            ELSE
                UPDATE {schema}.fronts SET rank = job.rank, run_at = job.run_at, id = job.id
                WHERE line = front.line;
            END IF;
        END IF;
        PERFORM {schema}.replace_1(front, moment);
    END LOOP;
END
$$;
