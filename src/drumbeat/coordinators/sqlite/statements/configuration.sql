-- name: get
-- The value of a key and the number of its last write.
SELECT value, revision FROM configuration WHERE key = ?;

-- name: next_revision
-- A number for a write; none is ever given out again.
UPDATE coordinator_counters SET revision = revision + 1 RETURNING revision;

-- name: write
-- A value, whatever was there.
INSERT INTO configuration (key, value, revision) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision;

-- name: remove
-- A key that is gone.
DELETE FROM configuration WHERE key = ?;
