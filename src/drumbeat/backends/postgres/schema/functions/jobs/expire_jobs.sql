-- version: 1
-- End waiting jobs that have expired, the longest expired first. `next_at` is when the next one
-- expires.
CREATE OR REPLACE FUNCTION {schema}.expire_jobs(
    most integer, at timestamptz, OUT expired bigint[], OUT next_at timestamptz
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
BEGIN
    expired := ARRAY(
        SELECT j.id FROM {schema}.jobs AS j
        WHERE j.expires_at IS NOT NULL AND j.status <> 'running' AND j.expires_at <= moment
        ORDER BY j.expires_at, j.id LIMIT most FOR UPDATE SKIP LOCKED
    );
    IF cardinality(expired) > 0 THEN
        PERFORM {schema}.end_expired(expired, moment);
    END IF;
    SELECT j.expires_at INTO next_at FROM {schema}.jobs AS j
    WHERE j.expires_at IS NOT NULL AND j.status <> 'running'
    ORDER BY j.expires_at, j.id LIMIT 1;
END
$$;
