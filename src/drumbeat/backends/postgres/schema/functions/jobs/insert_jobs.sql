-- version: 1
-- Create jobs, except those whose dedupe key is taken: `standing` has the id of the job that stands
-- for the key in their place. A key may be locked for as long as a caller's own transaction lasts, so
-- the clock is read after all locks are held.
CREATE OR REPLACE FUNCTION {schema}.insert_jobs(
    jobs {schema}.new_jobs, at timestamptz,
    OUT moment timestamptz, OUT ids bigint[], OUT standing bigint[]
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    keys text[] := {schema}.spread(jobs.dedupe_keys, jobs.size);
    lanes integer[];
    firsts integer[];
BEGIN
    -- In the same order for everybody, against deadlocks.
    PERFORM pg_advisory_xact_lock(k.lock) FROM (
        SELECT DISTINCT hashtextextended({channels} || 'key ' || u.key, 0)
        FROM unnest(keys) AS u (key) WHERE u.key IS NOT NULL ORDER BY 1
    ) AS k (lock);
    lanes := {schema}.lanes_of(jobs);
    moment := coalesce(at, clock_timestamp());
    IF keys IS NULL THEN
        ids := ARRAY(SELECT nextval('{schema}.job_ids') FROM generate_series(1, jobs.size));
    ELSE
        SELECT array_agg(k.first ORDER BY k.n), array_agg(k.standing ORDER BY k.n)
        INTO firsts, standing
        FROM (
            SELECT u.n, min(u.n) OVER (PARTITION BY u.key)::integer, (
                SELECT max(s.id) FROM (
                    SELECT j.id FROM {schema}.jobs AS j WHERE j.dedupe_key = u.key
                    UNION ALL
                    SELECT a.id FROM {schema}.archive AS a
                    WHERE a.dedupe_key = u.key AND {schema}.guarded_until(
                        a.dedupe_key, a.options, a.finished_at
                    ) > moment
                ) AS s
            )
            FROM unnest(keys) WITH ORDINALITY AS u (key, n)
        ) AS k (n, first, standing);
        ids := ARRAY(
            SELECT CASE
                WHEN u.key IS NULL OR u.standing IS NULL AND u.first = u.n
                THEN nextval('{schema}.job_ids')
            END
            FROM unnest(keys, firsts, standing) WITH ORDINALITY AS u (key, first, standing, n)
        );
        standing := ARRAY(
            SELECT CASE WHEN u.id IS NULL THEN coalesce(u.standing, ids[u.first]) END
            FROM unnest(ids, firsts, standing) AS u (id, first, standing)
        );
    END IF;
    PERFORM {schema}.create_jobs(ids, jobs, lanes, moment);
END
$$;
