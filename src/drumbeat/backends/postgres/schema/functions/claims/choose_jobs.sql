-- version: 1
-- Choose and lock jobs without limits: the best over all lanes, or, while other claims compete for
-- them, as many as there are.
CREATE OR REPLACE FUNCTION {schema}.choose_jobs(wanted integer[], most integer) RETURNS bigint[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    busy integer[] := wanted;
    lanes bigint[];
    counts bigint[];
    locked bigint[];
    next_lane integer;
BEGIN
    IF cardinality(wanted) > 1 THEN
        busy := ARRAY(
            SELECT w.lane FROM unnest(wanted) AS w (lane) CROSS JOIN LATERAL (
                SELECT FROM {schema}.jobs AS j
                WHERE j.limit_group = w.lane AND j.status = 'queued' LIMIT 1
            ) AS p
        );
    END IF;
    IF cardinality(busy) < 2 THEN
        RETURN {schema}.lock_first_jobs(busy, ARRAY[most]);
    END IF;
    SELECT array_agg(p.lane), array_agg(p.jobs) INTO lanes, counts
    FROM (
        SELECT f.lane, count(*) FROM {schema}.first_jobs(busy, most) AS f GROUP BY f.lane
    ) AS p (lane, jobs);
    locked := {schema}.lock_first_jobs(lanes, counts);
    IF cardinality(locked) < (SELECT sum(c) FROM unnest(counts) AS c) THEN
        -- Other claims were faster: take what there is, lane by lane.
        FOREACH next_lane IN ARRAY busy LOOP
            EXIT WHEN cardinality(locked) >= most;
            locked := locked || ARRAY(
                SELECT j.id FROM {schema}.jobs AS j
                WHERE j.limit_group = next_lane AND j.status = 'queued'
                    AND j.id <> ALL (locked)
                ORDER BY j.rank, j.run_at, j.id LIMIT most - cardinality(locked)
                FOR UPDATE SKIP LOCKED
            );
        END LOOP;
    END IF;
    RETURN locked;
END
$$;
