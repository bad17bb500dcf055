-- version: 1
-- The lane of each kind of job, in the order of the kinds. Missing lanes are created, which waits
-- for a transaction that creates the same lane: read the clock after this.
CREATE OR REPLACE FUNCTION {schema}.lanes_of(jobs {schema}.new_jobs) RETURNS integer[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    kinds integer := greatest(
        cardinality(jobs.queues), cardinality(jobs.tasks), cardinality(jobs.ranks),
        cardinality(jobs.options), cardinality(jobs.limits)
    );
    queues text[] := {schema}.spread(jobs.queues, kinds);
    tasks text[] := {schema}.spread(jobs.tasks, kinds);
    lanes integer[];
BEGIN
    FOR attempt IN 1 .. 2 LOOP
        lanes := ARRAY(
            SELECT l.id FROM unnest(queues, tasks) WITH ORDINALITY AS k (queue, task, n)
            LEFT JOIN {schema}.lanes AS l ON l.queue = k.queue AND l.task = k.task ORDER BY k.n
        );
        EXIT WHEN attempt = 2 OR array_position(lanes, NULL) IS NULL;
        INSERT INTO {schema}.lanes (queue, task)
        SELECT DISTINCT k.queue, k.task
        FROM unnest(queues, tasks, lanes) AS k (queue, task, lane)
        WHERE k.lane IS NULL ORDER BY k.queue, k.task
        ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN lanes;
END
$$;
