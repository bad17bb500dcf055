-- version: 2
-- Move one job to the archive. The caller has locked it, and counts it.
CREATE OR REPLACE FUNCTION {schema}.archive_job(
    job bigint, final_status text, why text, outcome bytea, moment timestamptz
) RETURNS void
LANGUAGE sql AS $$
    WITH gone AS (DELETE FROM {schema}.jobs WHERE id = job RETURNING *)
    INSERT INTO {schema}.archive (
        id, run_at, created_at, finished_at, started_at, tick_at, guarded_until, lane, attempt,
        fence, rank, cancel_requested, status, arguments, options, limits, tags, dedupe_key,
        schedule, node, result, error, progress
    )
    SELECT
        id, run_at, created_at, moment, started_at, tick_at,
        {schema}.kept_until(dedupe_key, options, moment), lane, attempt, fence, rank,
        cancel_requested, final_status, arguments, options, limits, tags, dedupe_key, schedule,
        node, outcome, why, progress
    FROM gone
$$;
