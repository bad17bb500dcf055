-- name: busy_lanes
-- Which lanes have queued jobs without limits, and which have groups that are not parked.
SELECT wanted.value,
    EXISTS (SELECT 1 FROM queued WHERE queued.limit_group = wanted.value),
    EXISTS (SELECT 1 FROM fronts WHERE fronts.lane = wanted.value AND fronts.parked IS NULL)
FROM json_each(?) AS wanted;

-- name: first_of_group
-- The first jobs of a limit group, in order, with all that an attempt needs.
SELECT
    queued.rank, queued.run_at, queued.id, queued.limit_group,
    jobs.created_at, jobs.attempt, jobs.fence,
    jobs.arguments, jobs.options, jobs.tags, jobs.guards_for, jobs.schedule, jobs.tick_at
FROM queued CROSS JOIN jobs ON jobs.id = queued.id
WHERE queued.limit_group = ? ORDER BY queued.rank, queued.run_at, queued.id LIMIT ?;

-- name: next_of_group
-- The jobs of a limit group after a place.
SELECT
    queued.rank, queued.run_at, queued.id, queued.limit_group,
    jobs.created_at, jobs.attempt, jobs.fence,
    jobs.arguments, jobs.options, jobs.tags, jobs.guards_for, jobs.schedule, jobs.tick_at
FROM queued CROSS JOIN jobs ON jobs.id = queued.id
WHERE queued.limit_group = ? AND (queued.rank, queued.run_at, queued.id) > (?, ?, ?)
ORDER BY queued.rank, queued.run_at, queued.id LIMIT ?;

-- name: first_two_of_groups
-- The first two jobs of each of some limit groups.
SELECT
    jobs.rank, jobs.run_at, jobs.id, jobs.limit_group,
    jobs.created_at, jobs.attempt, jobs.fence,
    jobs.arguments, jobs.options, jobs.tags, jobs.guards_for, jobs.schedule, jobs.tick_at
FROM json_each(?) AS wanted
CROSS JOIN jobs ON jobs.id IN (
    SELECT queued.id FROM queued WHERE queued.limit_group = wanted.value
    ORDER BY queued.rank, queued.run_at, queued.id LIMIT 2
)
ORDER BY jobs.limit_group, jobs.rank, jobs.run_at, jobs.id;

-- name: start_through
-- Claim the first jobs of a limit group, up to and including a place.
INSERT INTO running (node, started_at, id, limit_group, attempt, fence, guards_for)
SELECT
    ?, ?, queued.id, queued.limit_group, jobs.attempt + 1, jobs.fence + 1, jobs.guards_for
FROM queued CROSS JOIN jobs ON jobs.id = queued.id
WHERE queued.limit_group = ? AND (queued.rank, queued.run_at, queued.id) <= (?, ?, ?);

-- name: first_of_lane
-- One arm of the merge over several lanes: the first jobs of one of them.
SELECT rank, run_at, id, limit_group FROM queued WHERE limit_group = ?;

-- name: first_of_lanes
-- The first jobs over all lanes together; %s stands for the arms.
SELECT
    queued.rank, queued.run_at, queued.id, queued.limit_group,
    jobs.created_at, jobs.attempt, jobs.fence,
    jobs.arguments, jobs.options, jobs.tags, jobs.guards_for, jobs.schedule, jobs.tick_at
FROM (%s ORDER BY 1, 2, 3 LIMIT ?) AS queued CROSS JOIN jobs ON jobs.id = queued.id;

-- name: open_fronts
-- Limit groups of a lane that are not parked, after a place, in the order of their first jobs.
SELECT rank, run_at, id, limit_group FROM fronts
WHERE lane = ? AND parked IS NULL AND (rank, run_at, id) > (?, ?, ?)
ORDER BY rank, run_at, id LIMIT ?;

-- name: park
-- Park a limit group under the limit's key or the rate that blocks it.
UPDATE fronts SET parked = ?, at_most = ?, rank = ?, run_at = ?, id = ? WHERE limit_group = ?;

-- name: unpark
-- Let claims look at a limit group again.
UPDATE fronts SET parked = NULL, at_most = 0 WHERE limit_group = ?;

-- name: move_fronts
-- Limit groups whose first job has left, but which have others.
WITH moved (limit_group, rank, run_at, id) AS (VALUES (?, ?, ?, ?))
UPDATE fronts SET rank = moved.rank, run_at = moved.run_at, id = moved.id
FROM moved WHERE fronts.limit_group = moved.limit_group;

-- name: delete_fronts
-- Limit groups that have no queued job left.
DELETE FROM fronts WHERE limit_group IN (SELECT value FROM json_each(?));

-- name: parked_anywhere
-- Which of some keys and rates block any limit group.
SELECT wanted.value FROM json_each(?) AS wanted
WHERE EXISTS (SELECT 1 FROM fronts WHERE fronts.parked = wanted.value);

-- name: next_parked
-- The best limit group of the next lane and limit that a key blocks.
SELECT lane, at_most, rank, run_at, id, limit_group FROM fronts
WHERE parked = ? AND (lane, at_most) > (?, ?)
ORDER BY lane, at_most, rank, run_at, id LIMIT 1;

-- name: next_parked_in_lane
-- The best limit group of a lane that a rate blocks.
SELECT lane, at_most, rank, run_at, id, limit_group FROM fronts
WHERE parked = ? AND lane = ? AND at_most = 0
ORDER BY rank, run_at, id LIMIT 1;

-- name: limit_usage
-- How many jobs run under some keys.
SELECT key, running FROM limit_usage WHERE key IN (SELECT value FROM json_each(?));

-- name: save_limit_usage
-- How many jobs run under a key now.
INSERT INTO limit_usage (key, running) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET running = excluded.running;

-- name: delete_limit_usage
-- Keys under which nothing runs any more.
DELETE FROM limit_usage WHERE key IN (VALUES (?));

-- name: starts
-- The recent starts under a rate's key.
SELECT starts FROM rate_starts WHERE key = ?;

-- name: save_starts
-- Jobs under the rate's key have started.
INSERT INTO rate_starts (key, starts, outdated_at) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET starts = excluded.starts, outdated_at = excluded.outdated_at;

-- name: openings_due
-- Rates of some lanes that let a job start again. No rate waits longer than its period, which is in
-- the name that its groups are parked under: if one would, the clock has gone back.
SELECT lane, parked FROM openings
WHERE lane IN (SELECT value FROM json_each(:lanes)) AND (
    opens_at <= :now OR opens_at > :now + json_extract(substr(parked, 6), '$[2]')
);

-- name: next_opening
-- When a rate next lets a job of some lanes start.
SELECT min(opens_at) FROM openings WHERE lane IN (SELECT value FROM json_each(?));

-- name: await_opening
-- Look at the groups of a lane that a rate blocks at that time, if not earlier.
INSERT INTO openings (lane, parked, opens_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: awaited
-- Whether the groups that a rate blocks are looked at again anyway.
SELECT 1 FROM openings WHERE lane = ? AND parked = ?;

-- name: delete_opening
-- The time of an opening has come.
DELETE FROM openings WHERE lane = ? AND parked = ?;
