-- name: said_before
-- What a node last said of itself, if it is still listed.
SELECT node FROM registry WHERE id = :id AND boot = :boot AND ends_at > :now;

-- name: register
-- List a node for another TTL.
INSERT INTO registry (id, node, ends_at, boot) VALUES (:id, :node, :ends_at, :boot)
ON CONFLICT (id) DO UPDATE
SET node = excluded.node, ends_at = excluded.ends_at, boot = excluded.boot;

-- name: delete_ended
-- Delete nodes whose TTL has ended.
DELETE FROM registry WHERE ends_at <= :now OR boot <> :boot;

-- name: deregister
-- Take a node off the list.
DELETE FROM registry WHERE id = ? RETURNING id;

-- name: nodes
-- The live nodes, ordered by identity.
SELECT node, ends_at FROM registry WHERE boot = :boot AND ends_at > :now ORDER BY id;
