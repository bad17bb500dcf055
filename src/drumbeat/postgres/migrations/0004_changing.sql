-- deploy: before
-- Queueing jobs whose time has come, cancelling them, and reopening those that ended.

-- Queue pending jobs whose time has come, the earliest first. The last row has no number and says
-- when the next one is due.
CREATE FUNCTION {schema}.promote_1(most integer, at timestamptz)
RETURNS TABLE (id bigint, queue text, next_at timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    soonest timestamptz;
    found bigint[];
BEGIN
    SELECT j.run_at INTO soonest FROM {schema}.jobs AS j
    WHERE j.status = 'pending' ORDER BY j.run_at LIMIT 1;
    IF soonest <= moment THEN
        found := ARRAY(
            SELECT j.id FROM {schema}.jobs AS j
            WHERE j.status = 'pending' AND j.run_at <= moment
            ORDER BY j.run_at, j.id LIMIT most FOR UPDATE SKIP LOCKED
        );
        UPDATE {schema}.jobs AS j SET status = 'queued', queued_at = moment
        WHERE j.id = ANY (found);
        INSERT INTO {schema}.tallies (lane, pending, queued)
        SELECT j.lane, -count(*), count(*) FROM {schema}.jobs AS j
        WHERE j.id = ANY (found) GROUP BY j.lane;
        PERFORM {schema}.arrive_1(found);
        IF cardinality(found) > 0 THEN
            PERFORM pg_notify({channels} || 'jobs', '');
        END IF;
        RETURN QUERY
            SELECT j.id, l.queue, NULL::timestamptz
            FROM {schema}.jobs AS j JOIN {schema}.lanes AS l ON l.id = j.lane
            WHERE j.id = ANY (found) ORDER BY j.run_at, j.id;
        SELECT j.run_at INTO soonest FROM {schema}.jobs AS j
        WHERE j.status = 'pending' ORDER BY j.run_at LIMIT 1;
    END IF;
    RETURN QUERY SELECT NULL::bigint, NULL::text, soonest;
END
$$;

-- One job leaves the hot table for good. Its caller has locked it and counts it.
CREATE FUNCTION {schema}.finish_1(
    job bigint, ended_as text, why text, outcome bytea, moment timestamptz
) RETURNS void
LANGUAGE sql AS $$
    WITH gone AS (DELETE FROM {schema}.jobs WHERE id = job RETURNING *)
    INSERT INTO {schema}.archive (
        id, run_at, created_at, finished_at, started_at, asked_at, tick_at, guarded_until, delay,
        dedupe_for, lane, attempt, fence, rank, cancel_requested, status, arguments, options,
        terms, tags, dedupe_key, schedule, node, result, error, progress
    )
    SELECT
        id, run_at, created_at, moment, started_at, asked_at, tick_at,
        CASE WHEN dedupe_key IS NOT NULL THEN
            moment + coalesce(dedupe_for, 86400000000) * interval '1 microsecond'
        END,
        delay, dedupe_for, lane, attempt, fence, rank, cancel_requested, ended_as, arguments,
        options, terms, tags, dedupe_key, schedule, node, outcome, why, progress
    FROM gone
$$;

-- End waiting jobs as cancelled, and mark running ones. For each, in the order of the numbers: how
-- it stood before, null for a job that does not exist.
CREATE FUNCTION {schema}.cancel_1(ids bigint[], reason text, at timestamptz) RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
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
            PERFORM {schema}.finish_1(number, 'cancelled', nullif(reason, ''), NULL, moment);
            INSERT INTO {schema}.tallies (lane, pending, queued, cancelled)
            VALUES (job.lane, -(job.status = 'pending')::int, -(job.status = 'queued')::int, 1);
            PERFORM pg_notify({channels} || 'finished', '');
        END IF;
        statuses := statuses || job.status;
    END LOOP;
    RETURN statuses;
END
$$;

-- Queue failed or cancelled jobs again. For each, in the order of the numbers: how it stood before.
CREATE FUNCTION {schema}.reopen_1(ids bigint[], at timestamptz) RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    statuses text[] := '{}';
    stood text;
    number bigint;
BEGIN
    FOREACH number IN ARRAY ids LOOP
        WITH gone AS (
            DELETE FROM {schema}.archive AS a
            WHERE a.id = number AND a.status IN ('failed', 'cancelled') RETURNING *
        ), back AS (
            INSERT INTO {schema}.jobs (
                id, line, run_at, created_at, queued_at, asked_at, tick_at, delay, dedupe_for, lane,
                fence, rank, status, arguments, options, terms, tags, dedupe_key, schedule
            )
            SELECT
                id, {schema}.line_of_1(lane, terms), moment, created_at, moment, asked_at, tick_at,
                delay, dedupe_for, lane, fence, rank, 'queued', arguments, options, terms, tags,
                dedupe_key, schedule
            FROM gone
        ), told AS (
            INSERT INTO {schema}.tallies (lane, queued, failed, cancelled)
            SELECT lane, 1, -(status = 'failed')::int, -(status = 'cancelled')::int FROM gone
        )
        SELECT g.status INTO stood FROM gone AS g;
        IF FOUND THEN
            PERFORM {schema}.arrive_1(ARRAY[number]);
            PERFORM pg_notify({channels} || 'jobs', '');
        ELSE
            SELECT s.status INTO stood FROM (
                SELECT a.status FROM {schema}.archive AS a WHERE a.id = number
                UNION ALL
                SELECT j.status FROM {schema}.jobs AS j WHERE j.id = number
            ) AS s;
        END IF;
        statuses := statuses || stood;
    END LOOP;
    RETURN statuses;
END
$$;
