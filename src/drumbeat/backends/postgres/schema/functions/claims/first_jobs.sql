-- version: 1
-- The first queued jobs without limits of some lanes, best first. Nothing is locked.
CREATE OR REPLACE FUNCTION {schema}.first_jobs(wanted integer[], most integer)
RETURNS TABLE (lane bigint, rank smallint, run_at timestamptz, id bigint)
LANGUAGE sql STABLE AS $$
    SELECT p.limit_group, p.rank, p.run_at, p.id
    FROM unnest(wanted) AS w (lane) CROSS JOIN LATERAL (
        SELECT j.limit_group, j.rank, j.run_at, j.id FROM {schema}.jobs AS j
        WHERE j.limit_group = w.lane AND j.status = 'queued'
        ORDER BY j.rank, j.run_at, j.id LIMIT most
    ) AS p
    ORDER BY p.rank, p.run_at, p.id LIMIT most
$$;
