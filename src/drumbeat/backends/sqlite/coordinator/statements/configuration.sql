-- name: get
-- The value of a key and the revision of its last write.
SELECT value, revision FROM configuration WHERE key = ?;

-- name: next_revision
-- A revision for a write; none is given out twice.
UPDATE coordinator_counters SET revision = revision + 1 RETURNING revision;

-- name: write
-- Write a value, whatever was there.
INSERT INTO configuration (key, value, revision) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision;

-- name: remove
-- Delete a key.
DELETE FROM configuration WHERE key = ?;
