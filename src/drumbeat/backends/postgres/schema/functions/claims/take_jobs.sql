-- version: 2
-- Settle the last batch of a worker, and claim the next one: one call, one transaction.
--
-- Returns the instant of the claim in seconds since 1970; when to ask again, if a rate makes jobs
-- wait; how the jobs were found (see `drumbeat.backends.postgres.store.jobs.watermark`); the verdicts
-- on the settlements; the jobs that ended instead of being claimed; and the claimed jobs, best first.
-- Of those that ended, the id of a job that had expired is negated: the others had reached a limit.
--
-- The clock is read again after each wait for a lock: jobs start when they are claimed, not when the
-- claim was asked for. With marks the scan begins at them. If that yields too few jobs, the whole
-- index is scanned after all, unless the marks suffice.
CREATE OR REPLACE FUNCTION {schema}.take_jobs(
    request {schema}.claim_request, settled {schema}.settlements, marks {schema}.claim_marks,
    at timestamptz,
    OUT as_of double precision, OUT try_at timestamptz, OUT scanned_all boolean,
    OUT scan_effort bigint, OUT scan_microseconds bigint,
    OUT verdicts {schema}.settlement_verdicts, OUT cancelled bigint[],
    OUT claimed {schema}.claimed_job[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    most integer := request.at_once + request.ahead;
    wanted integer[];
    unpaused integer[];
    limited boolean := false;
    chosen record;
    began timestamptz;
    locked bigint[];
    ended bigint[]; -- because they had expired
    expired bigint[];
BEGIN
    IF most > 0 THEN
        wanted := ARRAY(
            SELECT l.id FROM {schema}.lanes AS l
            WHERE l.queue = ANY (request.queues) AND l.task = ANY (request.tasks)
        );
        limited := {schema}.have_open_groups(wanted, moment);
    END IF;
    IF limited OR NOT settled IS NULL AND {schema}.have_limits(settled) THEN
        limited := true;
        PERFORM {schema}.lock_limits();
        moment := coalesce(at, clock_timestamp());
    END IF;
    IF NOT settled IS NULL THEN
        verdicts := {schema}.settle_batch(settled, moment);
    END IF;
    IF cardinality(wanted) > 0 AND EXISTS (
        SELECT FROM {schema}.jobs AS j
        WHERE j.expires_at IS NOT NULL AND j.status <> 'running' AND j.expires_at <= moment
    ) THEN
        SELECT e.expired INTO ended FROM {schema}.expire_jobs(1000, moment) AS e;
    END IF;
    scanned_all := true;
    scan_effort := 0;
    scan_microseconds := 0;
    limited := limited AND cardinality(wanted) > 0;
    IF limited THEN
        moment := coalesce(at, clock_timestamp());
        PERFORM {schema}.admit_arrivals(wanted);
        PERFORM {schema}.open_due_rates(wanted, moment);
        unpaused := {schema}.unpaused_lanes(wanted);
        SELECT * INTO chosen FROM {schema}.choose_with_limits(unpaused, request, moment);
        SELECT {schema}.lock_first_jobs(array_agg(c.lane), array_agg(c.jobs)) INTO locked
        FROM (
            SELECT m.lane, count(*) FROM unnest(chosen.lanes) AS m (lane) GROUP BY m.lane
        ) AS c (lane, jobs);
        IF chosen.again OR cardinality(locked) < cardinality(chosen.lanes) THEN
            try_at := moment;
        END IF;
        cancelled := nullif(chosen.cancelled, '{}');
    ELSIF cardinality(wanted) > 0 THEN
        began := clock_timestamp();
        scan_effort := {schema}.scan_effort();
        unpaused := {schema}.unpaused_lanes(wanted);
        IF NOT marks IS NULL THEN
            locked := {schema}.choose_jobs_above(marks, unpaused, most);
            scanned_all := cardinality(locked) < most AND NOT marks.suffices;
        END IF;
        IF scanned_all THEN
            locked := {schema}.choose_jobs(unpaused, most);
        END IF;
        scan_microseconds := extract(epoch FROM clock_timestamp() - began) * 1000000;
        scan_effort := {schema}.scan_effort() - scan_effort;
        moment := coalesce(at, clock_timestamp());
    END IF;
    as_of := date_part('epoch', moment);
    IF cardinality(wanted) > 0 THEN
        SELECT least(try_at, min(o.opens_at)) INTO try_at FROM {schema}.rate_openings AS o
        WHERE o.lane = ANY (unpaused);
    END IF;
    IF cardinality(locked) > 0 THEN
        WITH running AS (
            UPDATE {schema}.jobs AS j SET status = 'running', node = request.holder,
                fence = j.fence + 1, attempt = j.attempt + 1, started_at = moment, progress = NULL
            WHERE j.id = ANY (locked) AND (j.expires_at IS NULL OR j.expires_at > moment)
            RETURNING j.id, j.fence, j.attempt, j.lane, j.rank, j.run_at, j.created_at,
                j.arguments, j.options, j.limits, j.tags, j.schedule, j.tick_at
        ), counted AS (
            INSERT INTO {schema}.tallies (lane, queued, running)
            SELECT r.lane, -count(*), count(*) FROM running AS r GROUP BY r.lane
        )
        SELECT array_agg(ROW(
            r.id, r.fence, r.attempt, r.lane, r.rank, date_part('epoch', r.run_at),
            date_part('epoch', r.created_at), r.arguments, r.options, r.limits, r.tags, r.schedule,
            r.tick_at
        )::{schema}.claimed_job ORDER BY r.rank, r.run_at, r.id)
        INTO claimed FROM running AS r;
        IF coalesce(cardinality(claimed), 0) < cardinality(locked) THEN
            -- The others have expired since. They took places, so it is worth to ask again.
            expired := ARRAY(
                SELECT j.id FROM {schema}.jobs AS j
                WHERE j.id = ANY (locked) AND j.expires_at <= moment AND j.status = 'queued'
            );
            PERFORM {schema}.end_expired(expired, moment);
            ended := ended || expired;
            try_at := moment;
        END IF;
    END IF;
    IF cardinality(ended) > 0 THEN
        cancelled := cancelled || ARRAY(SELECT -u.id FROM unnest(ended) AS u (id));
    END IF;
    IF limited THEN -- the jobs with limits among the others, in the order in which they were chosen
        SELECT array_agg(ROW(
            j.id, j.fence, j.attempt, j.lane, j.rank, date_part('epoch', j.run_at),
            date_part('epoch', j.created_at), j.arguments, j.options, j.limits, j.tags, j.schedule,
            j.tick_at
        )::{schema}.claimed_job ORDER BY array_position(chosen.chosen, j.id), j.rank, j.run_at, j.id)
        INTO claimed FROM {schema}.jobs AS j
        WHERE j.id = ANY (chosen.started || locked) AND j.status = 'running';
    END IF;
END
$$;
