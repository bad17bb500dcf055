-- version: 1
-- Claim jobs of a queue again, and wake workers. No row: the queue was not paused.
CREATE OR REPLACE FUNCTION {schema}.resume_queue(name text)
RETURNS TABLE (reason text, since timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY DELETE FROM {schema}.paused_queues AS p WHERE p.queue = name
        RETURNING p.reason, p.since;
    IF FOUND THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;
