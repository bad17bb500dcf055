-- name: register
-- List a node for another TTL, delete nodes whose TTL has passed, and notify if the entry differs.
WITH before AS (
    SELECT node FROM {schema}.registry WHERE id = $1 AND ends_at > clock_timestamp()
), ended AS (
    DELETE FROM {schema}.registry
    WHERE id IN (
        SELECT id FROM {schema}.registry
        WHERE ends_at <= clock_timestamp() AND id <> $1
        LIMIT 100 FOR UPDATE SKIP LOCKED
    )
)
INSERT INTO {schema}.registry (id, node, ends_at)
VALUES ($1, $2, clock_timestamp() + $3::interval)
ON CONFLICT (id) DO UPDATE SET node = excluded.node, ends_at = excluded.ends_at
RETURNING CASE WHEN (SELECT node FROM before) IS DISTINCT FROM $2
               THEN pg_notify({channels} || 'registry', '') END;

-- name: deregister
-- Remove a node from the list.
DELETE FROM {schema}.registry WHERE id = $1 RETURNING pg_notify({channels} || 'registry', '');

-- name: nodes
-- The nodes whose TTL has not passed, ordered by identity.
SELECT node, ends_at - clock_timestamp() AS remaining FROM {schema}.registry
WHERE ends_at > clock_timestamp() ORDER BY id;
