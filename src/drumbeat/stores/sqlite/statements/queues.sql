-- name: paused
-- Queues whose jobs are not claimed.
SELECT queue, reason, since FROM paused_queues;

-- name: pause
-- A queue whose jobs are not claimed from now on, or for another reason than before.
INSERT INTO paused_queues (queue, reason, since) VALUES (?, ?, ?)
ON CONFLICT (queue) DO UPDATE SET reason = excluded.reason
RETURNING reason, since;

-- name: resume
-- A queue whose jobs are claimed again.
DELETE FROM paused_queues WHERE queue = ? RETURNING reason, since;

-- name: forgotten
-- How many jobs of each queue ended how that are not kept any more.
SELECT queue, completed, failed, cancelled FROM forgotten_jobs;

-- name: remember
-- Jobs of a queue that are forgotten count on.
INSERT INTO forgotten_jobs (queue, completed, failed, cancelled) VALUES (?, ?, ?, ?)
ON CONFLICT (queue) DO UPDATE SET completed = completed + excluded.completed,
    failed = failed + excluded.failed, cancelled = cancelled + excluded.cancelled;

-- name: oldest
-- The earliest queued job of each queue: a step along the table for each line and each rank in it,
-- since within these jobs stand by their time.
WITH RECURSIVE busy (line) AS (
    SELECT (SELECT line FROM queued ORDER BY line LIMIT 1)
    UNION ALL
    SELECT (SELECT line FROM queued WHERE line > busy.line ORDER BY line LIMIT 1)
    FROM busy WHERE busy.line IS NOT NULL
), ranks (line, rank) AS (
    SELECT line, (SELECT rank FROM queued WHERE line = busy.line ORDER BY rank LIMIT 1)
    FROM busy WHERE line IS NOT NULL
    UNION ALL
    SELECT line, (
        SELECT rank FROM queued WHERE line = ranks.line AND rank > ranks.rank ORDER BY rank LIMIT 1
    )
    FROM ranks WHERE rank IS NOT NULL
)
SELECT lanes.queue, min((
    SELECT run_at FROM queued WHERE line = ranks.line AND rank = ranks.rank ORDER BY run_at LIMIT 1
))
FROM ranks CROSS JOIN lines ON lines.id = ranks.line CROSS JOIN lanes ON lanes.id = lines.lane
WHERE ranks.rank IS NOT NULL
GROUP BY lanes.queue;
