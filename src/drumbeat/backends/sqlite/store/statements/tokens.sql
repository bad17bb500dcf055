-- name: add
-- Add a token; no row: its name or its digest is taken.
INSERT INTO tokens (name, digest, scope, created_at, expires_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: tokens
-- All tokens, in the order of their ids.
SELECT id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at
FROM tokens ORDER BY id;

-- name: by_digest
-- The token of a digest.
SELECT id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at
FROM tokens WHERE digest = ?;

-- name: by_id
-- The token of an id.
SELECT id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at
FROM tokens WHERE id = ?;

-- name: by_name
-- The token of a name: the one that is not revoked, else the last one that was.
SELECT id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at
FROM tokens WHERE name = ? ORDER BY revoked_at IS NULL DESC, id DESC LIMIT 1;

-- name: revoke
-- Revoke a token.
UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL;

-- name: used
-- Record that tokens were used.
UPDATE tokens SET last_used_at = max(coalesce(last_used_at, :at), :at)
WHERE id IN (SELECT value FROM json_each(:ids));

-- name: prune_sessions
-- Delete browser sessions that ended before an instant; `rules.tokens` names them so.
DELETE FROM tokens
WHERE name GLOB 'session ' || replace(hex(zeroblob(6)), '0', '[0-9a-f]') || ' of *'
  AND (revoked_at < :before OR expires_at < :before);
