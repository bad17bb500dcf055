-- version: 1
-- Create jobs that differ only in their arguments, are due now, and have neither limits nor dedupe
-- keys, as nearly all jobs are. `notify` is whether to wake workers: commits that notify wait for
-- each other, so a busy client lets only some of its writes do so.
CREATE OR REPLACE FUNCTION {schema}.insert_alike(
    of_queue text, of_task text, of_rank smallint, of_options text, all_arguments bytea[],
    at timestamptz, notify boolean, OUT moment timestamptz, OUT ids bigint[]
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    of_lane integer;
BEGIN
    SELECT l.id INTO of_lane FROM {schema}.lanes AS l WHERE l.queue = of_queue AND l.task = of_task;
    IF of_lane IS NULL THEN
        of_lane := ({schema}.lanes_of(ROW(
            1, ARRAY[of_queue], ARRAY[of_task], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
        )::{schema}.new_jobs))[1];
    END IF;
    moment := coalesce(at, clock_timestamp()); -- the lane may have been waited for
    WITH created AS (
        INSERT INTO {schema}.jobs (
            id, limit_group, lane, rank, run_at, created_at, status, arguments, options
        )
        SELECT nextval('{schema}.job_ids'), of_lane, of_lane, of_rank, moment, moment, 'queued', a,
            of_options
        FROM unnest(all_arguments) AS a
        RETURNING id
    )
    SELECT array_agg(c.id) INTO ids FROM created AS c;
    INSERT INTO {schema}.tallies (lane, queued) VALUES (of_lane, cardinality(all_arguments));
    IF notify THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;
