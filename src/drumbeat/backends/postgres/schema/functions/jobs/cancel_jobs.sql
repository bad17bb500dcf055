-- version: 1
-- Cancel waiting jobs, and request the cancellation of running ones. Returns the status that each
-- had before, in the order of the ids; null: no such job.
CREATE OR REPLACE FUNCTION {schema}.cancel_jobs(ids bigint[], reason text, at timestamptz)
RETURNS text[]
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
            PERFORM {schema}.archive_job(
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
