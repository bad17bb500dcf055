-- name: record
-- Record what is about to be done.
INSERT INTO audit (at, actor, action, target, reason, details) VALUES (?, ?, ?, ?, ?, ?)
RETURNING id;

-- name: conclude
-- Record the outcome; the first one stays.
UPDATE audit SET outcome = ? WHERE id = ? AND outcome IS NULL;

-- name: entries
-- Entries, newest first; %s stands for the condition.
SELECT id, at, actor, action, target, reason, details, outcome FROM audit
WHERE %s ORDER BY id DESC LIMIT :limit;

-- name: delete_old
-- Delete old entries, the oldest first.
DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at <= ? ORDER BY at, id LIMIT ?);
