-- version: 2
-- Tell the next claim of those of some jobs that are queued and have limits. It takes no lock: a
-- caller's own transaction that creates a job may stay open for minutes.
CREATE OR REPLACE FUNCTION {schema}.announce_limited_jobs(ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO {schema}.limit_group_arrivals (limit_group, lane, limits, rank, run_at, job)
    SELECT DISTINCT ON (limit_group) limit_group, lane, limits, rank, run_at, id
    FROM {schema}.jobs
    -- Neither pending nor running, put in a way that keeps the planner from the index of queued jobs.
    WHERE id = ANY (ids) AND limits IS NOT NULL AND status <> 'pending' AND node IS NULL
    ORDER BY limit_group, rank, run_at, id;
END
$$;
