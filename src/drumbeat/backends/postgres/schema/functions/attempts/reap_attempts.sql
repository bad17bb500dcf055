-- version: 1
-- Close attempts of a dead node; `alive` says that it is not dead, and nothing was changed.
--
-- The node may send a heartbeat after it was found dead. So this and `record_heartbeat` lock the node
-- first, and look at its attempts in a later statement: the second of the two sees what the first one
-- did. Locks are taken in the order node, limits, jobs.
CREATE OR REPLACE FUNCTION {schema}.reap_attempts(
    of_node text, batch {schema}.settlements, at timestamptz,
    OUT alive boolean, OUT verdicts {schema}.settlement_verdicts
)
LANGUAGE plpgsql AS $$
BEGIN
    -- An unknown node has no row to lock: give it one that no other transaction will see.
    INSERT INTO {schema}.nodes AS n (id, node, beat_at, expires_at)
    VALUES (of_node, '', '-infinity', '-infinity') ON CONFLICT (id) DO NOTHING;
    PERFORM FROM {schema}.nodes AS n WHERE n.id = of_node FOR UPDATE;
    alive := EXISTS (
        SELECT FROM {schema}.nodes AS n
        WHERE n.id = of_node AND n.expires_at > coalesce(at, clock_timestamp())
    );
    IF NOT alive THEN
        verdicts := {schema}.settle_attempts(batch, at);
        DELETE FROM {schema}.nodes AS n WHERE n.id = of_node AND n.expires_at = '-infinity';
    END IF;
END
$$;
