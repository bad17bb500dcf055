-- version: 1
-- Queue pending jobs whose time has come, the earliest first. The last row has no id and says when
-- the next pending job is due.
CREATE OR REPLACE FUNCTION {schema}.promote_jobs(most integer, at timestamptz)
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
        PERFORM {schema}.announce_limited_jobs(found);
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
