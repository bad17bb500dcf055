-- version: 1
-- About the largest id of a job that was created before an instant. The id and the creation time of a
-- job are drawn together, so they rise together, except for jobs that are created at the same moment:
-- a binary search along the primary keys finds the place, and callers allow a minute either way.
CREATE OR REPLACE FUNCTION {schema}.last_job_before(moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    low bigint := 0;
    high bigint;
    middle bigint;
    found timestamptz;
BEGIN
    SELECT greatest(
        (SELECT max(j.id) FROM {schema}.jobs AS j), (SELECT max(a.id) FROM {schema}.archive AS a)
    ) + 1 INTO high;
    -- Jobs up to `low` were created before, and jobs from `high` on were not.
    WHILE low + 1 < high LOOP
        middle := low + (high - low) / 2;
        SELECT n.created_at, n.id INTO found, middle FROM (
            (
                SELECT j.created_at, j.id FROM {schema}.jobs AS j
                WHERE j.id >= middle ORDER BY j.id LIMIT 1
            )
            UNION ALL
            (
                SELECT a.created_at, a.id FROM {schema}.archive AS a
                WHERE a.id >= middle ORDER BY a.id LIMIT 1
            )
        ) AS n ORDER BY n.id LIMIT 1;
        IF found < moment THEN
            low := middle;
        ELSE
            high := low + (high - low) / 2; -- no job has an id from there to the one that was found
        END IF;
    END LOOP;
    RETURN low;
END
$$;
