-- name: said_before
-- What a node said last, if it is still listed.
SELECT node FROM registry WHERE id = :id AND boot = :boot AND ends_at > :now;

-- name: register
-- A node is listed for another while.
INSERT INTO registry (id, node, ends_at, boot) VALUES (:id, :node, :ends_at, :boot)
ON CONFLICT (id) DO UPDATE
SET node = excluded.node, ends_at = excluded.ends_at, boot = excluded.boot;

-- name: forget_ended
-- Nodes whose time has run out.
DELETE FROM registry WHERE ends_at <= :now OR boot <> :boot;

-- name: deregister
-- A node is taken off the list.
DELETE FROM registry WHERE id = ? RETURNING id;

-- name: nodes
-- The nodes whose time has not run out, ordered by identity.
SELECT node, ends_at FROM registry WHERE boot = :boot AND ends_at > :now ORDER BY id;
