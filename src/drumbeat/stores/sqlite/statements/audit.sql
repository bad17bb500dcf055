-- name: record
-- What is about to be done.
INSERT INTO audit (at, actor, action, target, reason, details) VALUES (?, ?, ?, ?, ?, ?)
RETURNING id;

-- name: conclude
-- What came of it; the first outcome stands.
UPDATE audit SET outcome = ? WHERE id = ? AND outcome IS NULL;

-- name: entries
-- Entries newest first; %s stands for which.
SELECT id, at, actor, action, target, reason, details, outcome FROM audit
WHERE %s ORDER BY id DESC LIMIT :limit;

-- name: forget
-- Entries of that age, the oldest first.
DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at <= ? ORDER BY at, id LIMIT ?);
