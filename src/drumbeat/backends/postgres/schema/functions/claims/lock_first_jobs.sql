-- version: 1
-- Lock so many of the first queued jobs without limits of each lane; jobs that other claims have
-- locked are passed over.
CREATE OR REPLACE FUNCTION {schema}.lock_first_jobs(lanes bigint[], counts bigint[])
RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
    locked bigint[] := '{}';
BEGIN
    FOR i IN 1 .. coalesce(cardinality(lanes), 0) LOOP
        locked := locked || ARRAY(
            SELECT j.id FROM {schema}.jobs AS j
            WHERE j.limit_group = lanes[i] AND j.status = 'queued'
            ORDER BY j.rank, j.run_at, j.id LIMIT counts[i] FOR UPDATE SKIP LOCKED
        );
    END LOOP;
    RETURN locked;
END
$$;
