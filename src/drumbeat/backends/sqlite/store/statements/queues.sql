-- name: paused
-- Queues whose jobs are not claimed.
SELECT queue, reason, since FROM paused_queues;

-- name: pause
-- Pause a queue, or change the reason of its pause.
INSERT INTO paused_queues (queue, reason, since) VALUES (?, ?, ?)
ON CONFLICT (queue) DO UPDATE SET reason = excluded.reason
RETURNING reason, since;

-- name: resume
-- Resume a queue.
DELETE FROM paused_queues WHERE queue = ? RETURNING reason, since;

-- name: forgotten
-- How the pruned jobs of each queue ended.
SELECT queue, completed, failed, cancelled FROM forgotten_jobs;

-- name: remember
-- Count how the jobs of a queue that are pruned ended.
INSERT INTO forgotten_jobs (queue, completed, failed, cancelled) VALUES (?, ?, ?, ?)
ON CONFLICT (queue) DO UPDATE SET completed = completed + excluded.completed,
    failed = failed + excluded.failed, cancelled = cancelled + excluded.cancelled;

-- name: oldest
-- The earliest queued job of each queue: one index search for each limit group and each rank in it,
-- since jobs of one rank are ordered by their time.
WITH RECURSIVE busy (id) AS (
    SELECT (SELECT limit_group FROM queued ORDER BY limit_group LIMIT 1)
    UNION ALL
    SELECT (SELECT limit_group FROM queued WHERE limit_group > busy.id ORDER BY limit_group LIMIT 1)
    FROM busy WHERE busy.id IS NOT NULL
), ranks (id, rank) AS (
    SELECT id, (SELECT rank FROM queued WHERE limit_group = busy.id ORDER BY rank LIMIT 1)
    FROM busy WHERE id IS NOT NULL
    UNION ALL
    SELECT id, (
        SELECT rank FROM queued WHERE limit_group = ranks.id AND rank > ranks.rank
        ORDER BY rank LIMIT 1
    )
    FROM ranks WHERE rank IS NOT NULL
)
SELECT lanes.queue, min((
    SELECT run_at FROM queued WHERE limit_group = ranks.id AND rank = ranks.rank
    ORDER BY run_at LIMIT 1
))
FROM ranks
CROSS JOIN limit_groups ON limit_groups.id = ranks.id
CROSS JOIN lanes ON lanes.id = limit_groups.lane
WHERE ranks.rank IS NOT NULL
GROUP BY lanes.queue;
