-- version: 3
-- Take up the arrivals of some lanes as limit groups that have queued jobs. `cancels` is true for each
-- limit that ends a job, whether it cancels or skips it.
CREATE OR REPLACE FUNCTION {schema}.admit_arrivals(wanted integer[]) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    WITH come AS (
        DELETE FROM {schema}.limit_group_arrivals WHERE lane = ANY (wanted) RETURNING *
    )
    INSERT INTO {schema}.limit_groups AS g (
        id, lane, rank, run_at, job, limit_keys, allowed, cancels, rate, rate_key, rate_at_most,
        rate_per
    )
    SELECT DISTINCT ON (c.limit_group)
        c.limit_group, c.lane, c.rank, c.run_at, c.job,
        ARRAY(SELECT l ->> 0 FROM json_array_elements(c.limits::json -> 0) AS l),
        ARRAY(SELECT (l ->> 1)::integer FROM json_array_elements(c.limits::json -> 0) AS l),
        ARRAY(SELECT l ->> 2 <> 'wait' FROM json_array_elements(c.limits::json -> 0) AS l),
        CASE WHEN c.limits::json ->> 1 IS NOT NULL THEN 'rate:' || (c.limits::json ->> 1) END,
        c.limits::json -> 1 ->> 0,
        (c.limits::json -> 1 ->> 1)::bigint,
        (c.limits::json -> 1 ->> 2)::bigint
    FROM come AS c
    ORDER BY c.limit_group, c.rank, c.run_at, c.job
    ON CONFLICT (id) DO UPDATE
    SET rank = excluded.rank, run_at = excluded.run_at, job = excluded.job
    WHERE (excluded.rank, excluded.run_at, excluded.job) < (g.rank, g.run_at, g.job);
END
$$;
