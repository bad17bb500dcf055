-- deploy: before
-- Settling attempts, and the limits and rates that decide which jobs may start.
--
-- A running job is told by its node, and not by its status: else the index of those that run, which
-- is small, looks better to the planner than that of the numbers, and is read from end to end.
--
-- Whoever counts under a limit's key, or parks a line, holds one lock of the namespace until its
-- transaction ends, and takes it before any other. Jobs without terms never ask for it.

-- The lock of all limits and rates.
CREATE FUNCTION {schema}.lock_limits_1() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(hashtextextended({channels} || 'limits', 0)) $$;

-- Open the best parked line of each lane and number that has room under the key; which they were.
CREATE FUNCTION {schema}.let_in_1(limit_key text) RETURNS bigint[]
LANGUAGE sql AS $$
    WITH opened AS (
        UPDATE {schema}.fronts SET parked = NULL, at_most = 0
        WHERE line = ANY (ARRAY(
            SELECT DISTINCT ON (f.lane, f.at_most) f.line FROM {schema}.fronts AS f
            WHERE f.parked = 'limit:' || limit_key AND f.at_most > coalesce(
                (SELECT h.running FROM {schema}.holdings AS h WHERE h.key = limit_key), 0
            )
            ORDER BY f.lane, f.at_most, f.rank, f.run_at, f.id
        ))
        RETURNING line
    )
    SELECT array_agg(line) FROM opened
$$;

-- A line has started a job or is out of the way: let in the next ones that have room.
CREATE FUNCTION {schema}.replace_1(front {schema}.fronts, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    limit_key text;
    opens timestamptz;
    best bigint;
BEGIN
    FOREACH limit_key IN ARRAY front.keys LOOP
        PERFORM {schema}.let_in_1(limit_key);
    END LOOP;
    IF front.rate IS NULL OR EXISTS (
        SELECT FROM {schema}.openings WHERE lane = front.lane AND parked = front.rate
    ) THEN
        RETURN;
    END IF;
    SELECT line INTO best FROM {schema}.fronts
    WHERE parked = front.rate AND lane = front.lane AND at_most = 0
    ORDER BY rank, run_at, id LIMIT 1;
    IF best IS NULL THEN
        RETURN;
    END IF;
    SELECT pace - front.burst * interval '1 microsecond' INTO opens
    FROM {schema}.paces WHERE key = front.rate_key;
    IF opens > moment THEN
        INSERT INTO {schema}.openings VALUES (front.lane, front.rate, opens)
        ON CONFLICT DO NOTHING;
    ELSE
        UPDATE {schema}.fronts SET parked = NULL WHERE line = best;
    END IF;
END
$$;

-- Jobs with these terms have ended: let in what waited for their room, and wake whoever may run it.
CREATE FUNCTION {schema}.free_1(all_terms text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    limit_keys text[] := ARRAY(
        SELECT l ->> 0 FROM unnest(all_terms) AS t (terms), json_array_elements(t.terms::json -> 0) AS l
    );
    limit_key text;
    opened boolean := false;
BEGIN
    UPDATE {schema}.holdings AS h SET running = h.running - f.jobs
    FROM (SELECT u.key, count(*) FROM unnest(limit_keys) AS u (key) GROUP BY u.key) AS f (key, jobs)
    WHERE h.key = f.key;
    DELETE FROM {schema}.holdings WHERE key = ANY (limit_keys) AND running <= 0;
    FOREACH limit_key IN ARRAY limit_keys LOOP
        opened := {schema}.let_in_1(limit_key) IS NOT NULL OR opened;
    END LOOP;
    -- A job that has only just arrived has no front yet: it may have waited for this, too.
    IF opened OR EXISTS (SELECT FROM {schema}.arrivals) THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;

-- Close one attempt that did not complete its job. Where the job stands then; null: the hold is over.
CREATE FUNCTION {schema}.settle_one_1(
    job_id bigint, held integer, change text, delay bigint, outcome bytea, said text,
    moment timestamptz
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    job {schema}.jobs;
    ended_as text;
    due timestamptz;
    soonest timestamptz;
BEGIN
    SELECT * INTO job FROM {schema}.jobs AS j
    WHERE j.id = job_id AND j.fence = held AND j.node IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF job.cancel_requested AND change IN ('wait for a retry', 'snooze', 'be given back') THEN
        change := 'be cancelled';
    END IF;
    INSERT INTO {schema}.attempts (job, fence, number, node, started_at, ended_at, change, error)
    VALUES (job_id, held, job.attempt, job.node, job.started_at, moment, change, said);
    IF held > 100 THEN
        DELETE FROM {schema}.attempts AS a WHERE a.job = job_id AND a.fence <= held - 100;
    END IF;
    ended_as := CASE change WHEN 'fail' THEN 'failed' WHEN 'be cancelled' THEN 'cancelled' END;
    IF ended_as IS NOT NULL THEN
        IF job.cancel_requested AND ended_as = 'cancelled' THEN
            said := coalesce(job.error, said); -- the reason of whoever asked for it comes first
        END IF;
        PERFORM {schema}.finish_1(job_id, ended_as, said, outcome, moment);
        INSERT INTO {schema}.tallies (lane, running, failed, cancelled)
        VALUES (job.lane, -1, (ended_as = 'failed')::int, (ended_as = 'cancelled')::int);
        RETURN ended_as;
    END IF;
    due := CASE
        WHEN change = 'be given back' THEN job.run_at -- which keeps its place
        ELSE moment + coalesce(delay, 0) * interval '1 microsecond'
    END;
    IF due > moment THEN
        SELECT j.run_at INTO soonest FROM {schema}.jobs AS j
        WHERE j.status = 'pending' ORDER BY j.run_at LIMIT 1;
        IF soonest IS NULL OR due < soonest THEN
            PERFORM pg_notify({channels} || 'times', '');
        END IF;
    END IF;
    UPDATE {schema}.jobs AS j SET
        status = CASE WHEN due > moment THEN 'pending' ELSE 'queued' END,
        run_at = due, queued_at = moment, node = NULL, started_at = NULL, progress = NULL,
        error = said, attempt = j.attempt - (change <> 'wait for a retry')::int
    WHERE j.id = job_id;
    INSERT INTO {schema}.tallies (lane, running, pending, queued)
    VALUES (job.lane, -1, (due > moment)::int, (due <= moment)::int);
    IF due <= moment THEN
        IF job.terms IS NOT NULL THEN
            PERFORM {schema}.arrive_1(ARRAY[job_id]);
        END IF;
        PERFORM pg_notify({channels} || 'jobs', '');
        RETURN 'queued';
    END IF;
    RETURN 'pending';
END
$$;

-- Whether any of some jobs has terms, so that to settle it takes the lock. Where no limit and no
-- rate is in use, as nearly always, nobody looks.
CREATE FUNCTION {schema}.have_terms_1(ids bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM {schema}.holdings) AND NOT EXISTS (SELECT FROM {schema}.paces) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM {schema}.jobs AS j
        WHERE j.id = ANY (ids) AND j.node IS NOT NULL AND j.terms IS NOT NULL
    );
END
$$;

-- Close attempts: first those that completed their jobs, then the others; each in the order of
-- their numbers, so that nobody waits in a circle. Arrays that would be empty are null. The answer
-- has a verdict for each: how the job stands, null where the hold was over; null for the first ones
-- if all of them are completed, as nearly always.
CREATE FUNCTION {schema}.settle_all_1(
    done bigint[], done_fences integer[], results bytea[], notes text[],
    ended bigint[], fences integer[], changes text[], delays bigint[], outcomes bytea[],
    errors text[], moment timestamptz,
    OUT done_verdicts text[], OUT verdicts text[]
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    completed bigint[];
    freed text[];
    left_terms text[];
    stands text;
BEGIN
    IF cardinality(ended) > 0 AND cardinality(done) > 0 THEN
        PERFORM FROM {schema}.jobs AS j WHERE j.id = ANY (done || ended) ORDER BY j.id FOR UPDATE;
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
        INTO completed, freed FROM kept;
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
CREATE FUNCTION {schema}.settle_1(
    done bigint[], done_fences integer[], results bytea[], notes text[],
    ended bigint[], fences integer[], changes text[], delays bigint[], outcomes bytea[],
    errors text[], at timestamptz,
    OUT done_verdicts text[], OUT verdicts text[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF {schema}.have_terms_1(done || ended) THEN
        PERFORM {schema}.lock_limits_1();
    END IF;
    SELECT s.done_verdicts, s.verdicts INTO done_verdicts, verdicts
    FROM {schema}.settle_all_1(
        done, done_fences, results, notes, ended, fences, changes, delays, outcomes, errors,
        coalesce(at, clock_timestamp())
    ) AS s;
END
$$;
