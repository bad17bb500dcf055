-- version: 1
-- Those of some lanes whose queues are not paused. The lock on the table of paused queues lasts until
-- the claim is committed: `pause_queue` waits for it, so every claim after a pause was acknowledged
-- obeys it. It is the last lock that a claim takes; readers and backups do not conflict with it.
CREATE OR REPLACE FUNCTION {schema}.unpaused_lanes(wanted integer[]) RETURNS integer[]
LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE {schema}.paused_queues IN ROW SHARE MODE;
    IF EXISTS (SELECT FROM {schema}.paused_queues) THEN
        RETURN ARRAY(
            SELECT w.lane FROM unnest(wanted) AS w (lane) WHERE w.lane <> ALL (ARRAY(
                SELECT l.id FROM {schema}.lanes AS l
                WHERE l.queue = ANY (ARRAY(SELECT p.queue FROM {schema}.paused_queues AS p))
            ))
        );
    END IF;
    RETURN wanted;
END
$$;
