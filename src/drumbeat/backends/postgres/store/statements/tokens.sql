-- name: add
-- Add a token; no row: its name or its digest is taken.
INSERT INTO {schema}.tokens (name, digest, scope, created_at, expires_at)
VALUES ($1, $2, $3, coalesce($4::timestamptz, clock_timestamp()), $5)
ON CONFLICT DO NOTHING
RETURNING id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at;

-- name: tokens
-- All tokens.
SELECT id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at
FROM {schema}.tokens ORDER BY id;

-- name: by_digest
-- The token of a digest.
SELECT id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at
FROM {schema}.tokens WHERE digest = $1;

-- name: revoke
-- Revoke a token by its id or its name; one that is revoked already stays as it is. A name means the
-- token that is not revoked, else the one that was revoked last.
UPDATE {schema}.tokens
SET revoked_at = coalesce(revoked_at, $3::timestamptz, clock_timestamp())
WHERE id = (
    SELECT t.id FROM {schema}.tokens AS t WHERE t.id = $1 OR t.name = $2
    ORDER BY t.revoked_at IS NULL DESC, t.id DESC LIMIT 1
)
RETURNING id, name, digest, scope, created_at, expires_at, revoked_at, last_used_at;

-- name: used
-- Record that tokens were used.
UPDATE {schema}.tokens
SET last_used_at = greatest(last_used_at, coalesce($2::timestamptz, clock_timestamp()))
WHERE id = ANY (ARRAY(
    SELECT id FROM {schema}.tokens WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE
));

-- name: prune_sessions
-- Delete browser sessions that ended before an instant, by the names that `rules.tokens` gives them.
DELETE FROM {schema}.tokens
WHERE name ~ '^session [0-9a-f]{12} of '
  AND (revoked_at < $1 OR expires_at < $1)
RETURNING id;
