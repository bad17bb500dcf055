-- version: 2
-- Lock all limits and rates of the namespace until the transaction ends. Whoever counts under a limit
-- or changes what a limit group waits for takes this lock before any lock on jobs. Jobs without
-- limits and rate never need it.
CREATE OR REPLACE FUNCTION {schema}.lock_limits() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended({channels} || 'limits', 0));
END
$$;
