-- name: busy_lanes
-- Which of some lanes have queued jobs without limits, and which have open lines with limits.
SELECT wanted.value,
    EXISTS (SELECT 1 FROM queued WHERE queued.line = wanted.value),
    EXISTS (SELECT 1 FROM fronts WHERE fronts.lane = wanted.value AND fronts.parked IS NULL)
FROM json_each(?) AS wanted;

-- name: first_of_line
-- The first jobs of a line, in its order, with all that an attempt needs.
SELECT
    queued.rank, queued.run_at, queued.id, queued.line, jobs.created_at, jobs.attempt, jobs.fence,
    jobs.asked_at, jobs.delay, jobs.arguments, jobs.options, jobs.tags, jobs.dedupe_key,
    jobs.dedupe_for, jobs.schedule, jobs.tick_at
FROM queued CROSS JOIN jobs ON jobs.id = queued.id
WHERE queued.line = ? ORDER BY queued.rank, queued.run_at, queued.id LIMIT ?;

-- name: next_of_line
-- The jobs of a line that come after a place.
SELECT
    queued.rank, queued.run_at, queued.id, queued.line, jobs.created_at, jobs.attempt, jobs.fence,
    jobs.asked_at, jobs.delay, jobs.arguments, jobs.options, jobs.tags, jobs.dedupe_key,
    jobs.dedupe_for, jobs.schedule, jobs.tick_at
FROM queued CROSS JOIN jobs ON jobs.id = queued.id
WHERE queued.line = ? AND (queued.rank, queued.run_at, queued.id) > (?, ?, ?)
ORDER BY queued.rank, queued.run_at, queued.id LIMIT ?;

-- name: first_two_of_lines
-- The first job of each of some lines, and the one that follows it.
SELECT
    jobs.rank, jobs.run_at, jobs.id, jobs.line, jobs.created_at, jobs.attempt, jobs.fence,
    jobs.asked_at, jobs.delay, jobs.arguments, jobs.options, jobs.tags, jobs.dedupe_key,
    jobs.dedupe_for, jobs.schedule, jobs.tick_at
FROM json_each(?) AS wanted
CROSS JOIN jobs ON jobs.id IN (
    SELECT queued.id FROM queued WHERE queued.line = wanted.value
    ORDER BY queued.rank, queued.run_at, queued.id LIMIT 2
)
ORDER BY jobs.line, jobs.rank, jobs.run_at, jobs.id;

-- name: start_through
-- Jobs of a line are claimed: the first ones, up to and with the last of them.
INSERT INTO running (node, started_at, id, line, attempt, fence, guards_for)
SELECT
    ?, ?, queued.id, queued.line, jobs.attempt + 1, jobs.fence + 1,
    iif(jobs.dedupe_key IS NULL, NULL, coalesce(jobs.dedupe_for, 86400000000))
FROM queued CROSS JOIN jobs ON jobs.id = queued.id
WHERE queued.line = ? AND (queued.rank, queued.run_at, queued.id) <= (?, ?, ?);

-- name: first_of_lane
-- One arm of the merge over several lanes: the first jobs of one of them.
SELECT rank, run_at, id, line FROM queued WHERE line = ?;

-- name: first_of_lanes
-- The first jobs over all lanes together; %s stands for the arms.
SELECT
    queued.rank, queued.run_at, queued.id, queued.line, jobs.created_at, jobs.attempt, jobs.fence,
    jobs.asked_at, jobs.delay, jobs.arguments, jobs.options, jobs.tags, jobs.dedupe_key,
    jobs.dedupe_for, jobs.schedule, jobs.tick_at
FROM (%s ORDER BY 1, 2, 3 LIMIT ?) AS queued CROSS JOIN jobs ON jobs.id = queued.id;

-- name: open_fronts
-- Lines of a lane whose first job nothing is known to hold up, the best first.
SELECT rank, run_at, id, line FROM fronts
WHERE lane = ? AND parked IS NULL AND (rank, run_at, id) > (?, ?, ?)
ORDER BY rank, run_at, id LIMIT ?;

-- name: park
-- A line is held up, by a limit's key or by a rate.
UPDATE fronts SET parked = ?, at_most = ?, rank = ?, run_at = ?, id = ? WHERE line = ?;

-- name: unpark
-- A line may be looked at again.
UPDATE fronts SET parked = NULL, at_most = 0 WHERE line = ?;

-- name: move_fronts
-- Lines whose first job has left, but which have others.
WITH moved (line, rank, run_at, id) AS (VALUES (?, ?, ?, ?))
UPDATE fronts SET rank = moved.rank, run_at = moved.run_at, id = moved.id
FROM moved WHERE fronts.line = moved.line;

-- name: delete_fronts
-- Lines that have no queued job left.
DELETE FROM fronts WHERE line IN (SELECT value FROM json_each(?));

-- name: parked_anywhere
-- Which of some keys hold anything up.
SELECT wanted.value FROM json_each(?) AS wanted
WHERE EXISTS (SELECT 1 FROM fronts WHERE fronts.parked = wanted.value);

-- name: next_parked
-- The best line of the next lane and number that a key holds up.
SELECT lane, at_most, rank, run_at, id, line FROM fronts
WHERE parked = ? AND (lane, at_most) > (?, ?)
ORDER BY lane, at_most, rank, run_at, id LIMIT 1;

-- name: next_parked_in_lane
-- The best line of a lane that a rate holds up.
SELECT rank, run_at, id, line FROM fronts WHERE parked = ? AND lane = ? AND at_most = 0
ORDER BY rank, run_at, id LIMIT 1;

-- name: holdings
-- How many jobs run under some keys.
SELECT key, running FROM holdings WHERE key IN (SELECT value FROM json_each(?));

-- name: keep_holdings
-- How many jobs run under a key now.
INSERT INTO holdings (key, running) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET running = excluded.running;

-- name: delete_holdings
-- Keys under which nothing runs any more.
DELETE FROM holdings WHERE key IN (VALUES (?));

-- name: starts
-- The recent starts under a rate's key.
SELECT starts FROM rate_starts WHERE key = ?;

-- name: pace
-- How far an older version of Drumbeat has used a rate.
SELECT pace FROM paces WHERE key = ?;

-- name: keep_starts
-- Jobs under the rate's key have started.
INSERT INTO rate_starts (key, starts, outdated_at) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET starts = excluded.starts, outdated_at = excluded.outdated_at;

-- name: openings_due
-- Rates of some lanes that let a job start again. No rate waits longer than its period, which is in
-- the name that its lines are parked under: if one would, the clock has gone back.
SELECT lane, parked FROM openings
WHERE lane IN (SELECT value FROM json_each(:lanes)) AND (
    opens_at <= :now OR opens_at > :now + json_extract(substr(parked, 6), '$[2]')
);

-- name: next_opening
-- When a rate next lets a job of some lanes start.
SELECT min(opens_at) FROM openings WHERE lane IN (SELECT value FROM json_each(?));

-- name: await_opening
-- A lane's lines that a rate holds up are to be looked at then, if not earlier.
INSERT INTO openings (lane, parked, opens_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: awaited
-- Whether the rate's lines are looked at again anyway.
SELECT 1 FROM openings WHERE lane = ? AND parked = ?;

-- name: delete_opening
-- The time has come.
DELETE FROM openings WHERE lane = ? AND parked = ?;
