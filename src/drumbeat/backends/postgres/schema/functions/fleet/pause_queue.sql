-- version: 1
-- Claim no more jobs of a queue. Each claim holds a weak lock on the table until it is committed: when
-- this lock is granted, every claim that had not seen the pause is over, and later ones see it.
CREATE OR REPLACE FUNCTION {schema}.pause_queue(
    name text, why text, at timestamptz, OUT reason text, OUT since timestamptz
)
LANGUAGE plpgsql SET lock_timeout = '10s' AS $$
#variable_conflict use_column
BEGIN
    LOCK TABLE {schema}.paused_queues IN EXCLUSIVE MODE;
    INSERT INTO {schema}.paused_queues AS p (queue, reason, since)
    VALUES (name, why, coalesce(at, clock_timestamp()))
    ON CONFLICT (queue) DO UPDATE SET reason = excluded.reason
    RETURNING p.reason, p.since INTO reason, since;
END
$$;
