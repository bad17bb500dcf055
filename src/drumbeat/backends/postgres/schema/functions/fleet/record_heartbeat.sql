-- version: 1
-- Record that a node is alive for another `lifetime` microseconds, and the progress of its attempts.
-- The rows are its holds that are current; there is at least one row. A reaper may have the row of the
-- node locked for a while, so the clock is read after that.
CREATE OR REPLACE FUNCTION {schema}.record_heartbeat(
    of_node text, described text, lifetime bigint, holds {schema}.node_holds,
    reported {schema}.node_progress, at timestamptz
)
RETURNS TABLE (
    beat_at timestamptz, drain_requested boolean, job bigint, fence integer,
    cancel_requested boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz;
    drains boolean;
BEGIN
    PERFORM FROM {schema}.nodes AS n WHERE n.id = of_node FOR UPDATE;
    moment := coalesce(at, clock_timestamp());
    INSERT INTO {schema}.nodes AS n (id, node, beat_at, expires_at)
    VALUES (of_node, described, moment, moment + lifetime * interval '1 microsecond')
    ON CONFLICT (id) DO UPDATE
    SET node = excluded.node, beat_at = excluded.beat_at, expires_at = excluded.expires_at
    RETURNING n.drain_requested INTO drains;
    IF cardinality(reported.jobs) > 0 THEN
        UPDATE {schema}.jobs AS j SET progress = p.progress
        FROM unnest(reported.jobs, reported.fences, reported.progress) AS p (id, fence, progress)
        WHERE j.id = p.id AND j.fence = p.fence AND j.node IS NOT NULL;
    END IF;
    RETURN QUERY
    SELECT moment, drains, h.id, h.fence, h.cancel_requested
    FROM (SELECT) AS always LEFT JOIN LATERAL (
        SELECT j.id, j.fence, j.cancel_requested
        FROM unnest(holds.jobs, holds.fences) AS w (id, fence)
        JOIN {schema}.jobs AS j ON j.id = w.id AND j.fence = w.fence AND j.node IS NOT NULL
    ) AS h ON true;
END
$$;
