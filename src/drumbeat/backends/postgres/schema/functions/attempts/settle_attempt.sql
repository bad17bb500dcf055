-- version: 2
-- Close one attempt that did not complete its job. Returns the status that the job has then; null:
-- the hold is not current, and nothing was changed.
CREATE OR REPLACE FUNCTION {schema}.settle_attempt(
    job_id bigint, held integer, change text, delay bigint, outcome bytea, said text,
    moment timestamptz
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    job {schema}.jobs;
    final_status text;
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
    ELSIF change = 'wait for a retry'
        AND job.expires_at <= moment + coalesce(delay, 0) * interval '1 microsecond' THEN
        change := 'fail'; -- its retry could not start
    END IF;
    INSERT INTO {schema}.attempts (job, fence, number, node, started_at, ended_at, change, error)
    VALUES (job_id, held, job.attempt, job.node, job.started_at, moment, change, said);
    IF held > 100 THEN
        DELETE FROM {schema}.attempts AS a WHERE a.job = job_id AND a.fence <= held - 100;
    END IF;
    final_status := CASE change WHEN 'fail' THEN 'failed' WHEN 'be cancelled' THEN 'cancelled' END;
    IF final_status IS NOT NULL THEN
        IF job.cancel_requested AND final_status = 'cancelled' THEN
            said := coalesce(job.error, said); -- the reason of the request takes precedence
        END IF;
        PERFORM {schema}.archive_job(job_id, final_status, said, outcome, moment);
        INSERT INTO {schema}.tallies (lane, running, failed, cancelled)
        VALUES (job.lane, -1, (final_status = 'failed')::int, (final_status = 'cancelled')::int);
        PERFORM pg_notify({channels} || 'finished', '');
        RETURN final_status;
    END IF;
    due := CASE
        WHEN change = 'be given back' THEN job.run_at -- it keeps its place in the queue
        ELSE moment + coalesce(delay, 0) * interval '1 microsecond'
    END;
    IF job.expires_at IS NOT NULL THEN -- it did not count while it ran
        PERFORM pg_notify({channels} || 'times', '');
    END IF;
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
    IF due > moment THEN
        RETURN 'pending';
    END IF;
    IF job.limits IS NOT NULL THEN
        PERFORM {schema}.announce_limited_jobs(ARRAY[job_id]);
    END IF;
    PERFORM pg_notify({channels} || 'jobs', '');
    RETURN 'queued';
END
$$;
