-- version: 2
-- Close the attempts whose holds are current; the caller has the lock of limits if one needs it.
--
-- Jobs are locked in the order of their ids, against deadlocks. A running job is recognised by its
-- node, not by its status: otherwise the planner prefers the small index of running jobs to the
-- primary key, and reads it from end to end.
CREATE OR REPLACE FUNCTION {schema}.settle_batch(
    batch {schema}.settlements, moment timestamptz, OUT verdicts {schema}.settlement_verdicts
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    plain bigint[] := batch.plain::bigint[];
    closed bigint[];
    released text[];
    attempt record;
    its_limits text;
    new_status text;
    statuses text[];
BEGIN
    IF num_nonnulls(
        plain, nullif(batch.completed, '{}'), nullif(batch.ended, '{}')
    ) > 1 THEN
        PERFORM FROM {schema}.jobs AS j
        WHERE j.id = ANY (plain || batch.completed || batch.ended) ORDER BY j.id FOR UPDATE;
    END IF;
    IF plain IS NOT NULL THEN
        WITH gone AS (
            DELETE FROM {schema}.jobs AS j
            WHERE j.id = ANY (plain) AND j.fence = 1 AND j.node IS NOT NULL
            RETURNING j.*
        ), kept AS (
            INSERT INTO {schema}.archive (
                id, run_at, created_at, finished_at, started_at, tick_at, guarded_until, lane,
                attempt, fence, rank, cancel_requested, status, arguments, options, limits, tags,
                dedupe_key, schedule, node, progress
            )
            SELECT
                id, run_at, created_at, moment, started_at, tick_at,
                {schema}.kept_until(dedupe_key, options, moment), lane, attempt, fence, rank,
                cancel_requested, 'completed', arguments, options, limits, tags, dedupe_key,
                schedule, node, progress
            FROM gone
        ), counted AS (
            INSERT INTO {schema}.tallies (lane, running, completed)
            SELECT lane, -count(*), count(*) FROM gone GROUP BY lane
        )
        SELECT array_agg(id), array_agg(limits) FILTER (WHERE limits IS NOT NULL)
        INTO closed, released FROM gone;
        IF cardinality(closed) IS DISTINCT FROM cardinality(plain) THEN
            verdicts.plain := ARRAY(
                SELECT CASE WHEN s.id = ANY (closed) THEN 'completed' END
                FROM unnest(plain) AS s (id)
            );
        END IF;
        PERFORM pg_notify({channels} || 'finished', '');
    END IF;
    IF cardinality(batch.completed) > 0 THEN
        WITH gone AS (
            DELETE FROM {schema}.jobs AS j
            USING unnest(
                batch.completed, batch.completed_fences, batch.results, batch.notes
            ) AS s (id, fence, result, note)
            WHERE j.id = s.id AND j.fence = s.fence AND j.node IS NOT NULL
            RETURNING j.*, s.result, s.note
        ), kept AS (
            INSERT INTO {schema}.archive (
                id, run_at, created_at, finished_at, started_at, tick_at, guarded_until, lane,
                attempt, fence, rank, cancel_requested, status, arguments, options, limits, tags,
                dedupe_key, schedule, node, progress, result, error
            )
            SELECT
                id, run_at, created_at, moment, started_at, tick_at,
                {schema}.kept_until(dedupe_key, options, moment), lane, attempt, fence, rank,
                cancel_requested, 'completed', arguments, options, limits, tags, dedupe_key,
                schedule, node, progress, result, note
            FROM gone
        ), counted AS (
            INSERT INTO {schema}.tallies (lane, running, completed)
            SELECT lane, -count(*), count(*) FROM gone GROUP BY lane
        )
        SELECT array_agg(id), released || array_agg(limits) FILTER (WHERE limits IS NOT NULL)
        INTO closed, released FROM gone;
        IF cardinality(closed) IS DISTINCT FROM cardinality(batch.completed) THEN
            verdicts.completed := ARRAY(
                SELECT CASE WHEN s.id = ANY (closed) THEN 'completed' END
                FROM unnest(batch.completed) AS s (id)
            );
        END IF;
        PERFORM pg_notify({channels} || 'finished', '');
    END IF;
    IF cardinality(batch.ended) > 0 THEN
        FOR attempt IN
            SELECT * FROM unnest(
                batch.ended, batch.ended_fences, batch.changes, batch.delays, batch.outcomes,
                batch.errors
            ) AS a (id, fence, change, delay, outcome, error)
        LOOP
            SELECT j.limits INTO its_limits FROM {schema}.jobs AS j WHERE j.id = attempt.id;
            new_status := {schema}.settle_attempt(
                attempt.id, attempt.fence, attempt.change, attempt.delay, attempt.outcome,
                attempt.error, moment
            );
            statuses := statuses || new_status;
            IF new_status IS NOT NULL AND its_limits IS NOT NULL THEN
                released := released || its_limits;
            END IF;
        END LOOP;
        verdicts.ended := statuses;
    END IF;
    IF released IS NOT NULL THEN
        PERFORM {schema}.release_limits(released);
    END IF;
END
$$;
