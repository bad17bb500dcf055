-- deploy: before
-- Attempts are taken from a node only while it is dead.
--
-- Between the question which nodes are dead and the answer to it, one of them may have been heard of.
-- So both of these lock the node first, and look at its attempts in a statement that begins after
-- that: whichever comes second sees what the first one did. They lock nodes before limits, and limits
-- before jobs.

-- Close attempts of a node, as `settle_2` does, unless it lives.
CREATE FUNCTION {schema}.reap_1(
    of_node text,
    usual text, done bigint[], done_fences integer[], results bytea[], notes text[],
    ended bigint[], fences integer[], changes text[], delays bigint[], outcomes bytea[],
    errors text[], at timestamptz,
    OUT lives boolean, OUT plain_verdicts text[], OUT done_verdicts text[], OUT verdicts text[]
)
LANGUAGE plpgsql AS $$
BEGIN
    -- A node that nobody knows has no row to lock: it gets one that nobody else will see.
    INSERT INTO {schema}.nodes AS n (id, node, beat_at, expires_at)
    VALUES (of_node, '', '-infinity', '-infinity') ON CONFLICT (id) DO NOTHING;
    PERFORM FROM {schema}.nodes AS n WHERE n.id = of_node FOR UPDATE;
    lives := EXISTS (
        SELECT FROM {schema}.nodes AS n
        WHERE n.id = of_node AND n.expires_at > coalesce(at, clock_timestamp())
    );
    IF NOT lives THEN
        SELECT s.plain_verdicts, s.done_verdicts, s.verdicts
        INTO plain_verdicts, done_verdicts, verdicts
        FROM {schema}.settle_2(
            usual, done, done_fences, results, notes, ended, fences, changes, delays, outcomes,
            errors, at
        ) AS s;
        DELETE FROM {schema}.nodes AS n WHERE n.id = of_node AND n.expires_at = '-infinity';
    END IF;
END
$$;

-- Note that a node is alive for another while, and how its attempts go on. The rows are its holds that
-- are current; there is at least one row.
CREATE FUNCTION {schema}.beat_1(
    of_node text, described text, lifetime bigint, at timestamptz,
    held bigint[], held_fences integer[],
    moved bigint[], moved_fences integer[], all_progress text[]
)
RETURNS TABLE (
    beat_at timestamptz, drains boolean, id bigint, fence integer, cancel_requested boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, clock_timestamp());
    asked_to_drain boolean;
BEGIN
    INSERT INTO {schema}.nodes AS n (id, node, beat_at, expires_at)
    VALUES (of_node, described, moment, moment + lifetime * interval '1 microsecond')
    ON CONFLICT (id) DO UPDATE
    SET node = excluded.node, beat_at = excluded.beat_at, expires_at = excluded.expires_at
    RETURNING n.drain_requested INTO asked_to_drain;
    IF cardinality(moved) > 0 THEN
        UPDATE {schema}.jobs AS j SET progress = p.progress
        FROM unnest(moved, moved_fences, all_progress) AS p (id, fence, progress)
        WHERE j.id = p.id AND j.fence = p.fence AND j.node IS NOT NULL;
    END IF;
    RETURN QUERY
    SELECT moment, asked_to_drain, h.id, h.fence, h.cancel_requested
    FROM (SELECT) AS always LEFT JOIN LATERAL (
        SELECT j.id, j.fence, j.cancel_requested
        FROM unnest(held, held_fences) AS w (id, fence)
        JOIN {schema}.jobs AS j ON j.id = w.id AND j.fence = w.fence AND j.node IS NOT NULL
    ) AS h ON true;
END
$$;
