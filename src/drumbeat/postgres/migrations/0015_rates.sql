-- deploy: before
-- Rates by a log of recent starts: in any window as long as a rate's period, at most its number start.
--
-- The rule is that of `drumbeat.rules.rate_limiting`, which says why. The functions that claim keep
-- their names, so that older nodes follow the rule too. A key that has no starts here may still be in
-- `paces`, where the earlier rule kept how far a rate has been used.

CREATE TABLE {schema}.rate_starts (
    key text COLLATE "C" PRIMARY KEY,
    times timestamptz[] NOT NULL, -- when jobs have started, oldest first,
    counts integer[] NOT NULL, -- and how many at a time
    kept_for bigint NOT NULL, -- the longest period of the rates that use the key
    outdated_at timestamptz NOT NULL -- from then on they concern no rate
) WITH (fillfactor = 30); -- each start rewrites its row, which stays in its page then

-- The earliest instant at which a rate lets one more start; null: it never had to wait.
CREATE FUNCTION {schema}.rate_opens_1(
    times timestamptz[], counts integer[], most bigint, per bigint
) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    FOR i IN REVERSE cardinality(counts) .. 1 LOOP
        most := most - counts[i];
        IF most <= 0 THEN
            RETURN times[i] + per * interval '1 microsecond';
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Starts by a clock that says `moment`, which may have gone back since.
CREATE FUNCTION {schema}.rate_as_of_1(
    INOUT times timestamptz[], INOUT counts integer[], moment timestamptz
)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    future integer := 0;
BEGIN
    WHILE cardinality(times) > 0 AND times[cardinality(times)] >= moment LOOP
        future := future + counts[cardinality(counts)];
        times := times[1 : cardinality(times) - 1];
        counts := counts[1 : cardinality(counts) - 1];
    END LOOP;
    IF future > 0 THEN
        times := times || moment;
        counts := counts || future;
    END IF;
END
$$;

-- Starts after one more, at `moment`.
CREATE FUNCTION {schema}.rate_with_start_1(
    INOUT times timestamptz[], INOUT counts integer[], INOUT kept_for bigint,
    per bigint, moment timestamptz
)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    outdated integer := 0;
    latest integer;
BEGIN
    kept_for := greatest(kept_for, per);
    IF times[cardinality(times)] >= moment THEN
        SELECT s.times, s.counts INTO times, counts
        FROM {schema}.rate_as_of_1(times, counts, moment) AS s;
    END IF;
    latest := cardinality(times);
    IF times[latest] = moment THEN
        counts[latest] := counts[latest] + 1;
    ELSE
        times := times || moment;
        counts := counts || 1;
        latest := latest + 1;
    END IF;
    WHILE times[outdated + 1] <= moment - kept_for * interval '1 microsecond' LOOP
        outdated := outdated + 1;
    END LOOP;
    IF outdated > 0 THEN
        times := times[outdated + 1 : latest];
        counts := counts[outdated + 1 : latest];
    END IF;
    IF cardinality(times) > 128 THEN
        -- Starts of the same 64th of a period become one, at the time of the last of them.
        SELECT array_agg(m.latest ORDER BY m.latest), array_agg(m.jobs ORDER BY m.latest)
        INTO times, counts
        FROM (
            SELECT max(e.started_at), sum(e.jobs)::integer
            FROM unnest(times, counts) AS t (started_at, jobs)
            CROSS JOIN LATERAL (
                SELECT t.started_at > moment - per * interval '1 microsecond',
                    (extract(epoch FROM t.started_at) * 1000000)::bigint
            ) AS n (recent, number)
            CROSS JOIN LATERAL (
                SELECT t.started_at, t.jobs, n.recent,
                    n.number / ((CASE WHEN n.recent THEN per ELSE kept_for END + 63) / 64)
            ) AS e (started_at, jobs, recent, part)
            GROUP BY e.recent, e.part
        ) AS m (latest, jobs);
    END IF;
END
$$;

-- The recent starts under a rate's key. `moved` says that the clock has gone back since they were
-- written.
CREATE FUNCTION {schema}.recent_starts_1(
    of_key text, most bigint, per bigint, moment timestamptz,
    OUT times timestamptz[], OUT counts integer[], OUT kept_for bigint, OUT moved boolean
)
LANGUAGE plpgsql AS $$
DECLARE
    ahead bigint;
BEGIN
    moved := false;
    SELECT r.times, r.counts, r.kept_for INTO times, counts, kept_for
    FROM {schema}.rate_starts AS r WHERE r.key = of_key;
    IF NOT FOUND THEN
        times := '{}';
        counts := '{}';
        kept_for := per;
        -- The earlier rule let the rest start until the pace was over, and so does this.
        SELECT extract(epoch FROM p.pace - moment) * 1000000,
            ARRAY[p.pace - per * interval '1 microsecond']
        INTO ahead, times
        FROM {schema}.paces AS p WHERE p.key = of_key AND p.pace > moment;
        IF FOUND THEN
            counts := ARRAY[least(most, ceil(ahead::numeric * most / per))];
        ELSE
            times := '{}';
        END IF;
    END IF;
    IF times[cardinality(times)] > moment THEN
        moved := true;
        SELECT s.times, s.counts INTO times, counts
        FROM {schema}.rate_as_of_1(times, counts, moment) AS s;
    END IF;
END
$$;

-- When the rate of a line lets one more start; null: it need not wait.
CREATE FUNCTION {schema}.line_opens_1(front {schema}.fronts, moment timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
    rate json := substr(front.rate, 6)::json;
    most bigint := (rate ->> 1)::bigint;
    per bigint := (rate ->> 2)::bigint;
    recent record;
BEGIN
    SELECT * INTO recent FROM {schema}.recent_starts_1(front.rate_key, most, per, moment);
    IF recent.moved THEN
        -- Kept, so that the wait ends: from now on it is judged by this clock.
        UPDATE {schema}.rate_starts AS r SET times = recent.times, counts = recent.counts
        WHERE r.key = front.rate_key;
    END IF;
    RETURN {schema}.rate_opens_1(recent.times, recent.counts, most, per);
END
$$;

-- What a line with terms may do now: start, cancel its first job, or be parked under something.
CREATE OR REPLACE FUNCTION {schema}.judge_1(
    front {schema}.fronts, moment timestamptz,
    OUT verdict text, OUT parked_under text, OUT allows integer, OUT opens timestamptz
)
LANGUAGE plpgsql AS $$
DECLARE
    running integer;
    gives_way boolean := false;
BEGIN
    IF front.rate IS NOT NULL THEN
        opens := {schema}.line_opens_1(front, moment);
        IF opens > moment THEN
            verdict := 'park';
            parked_under := front.rate;
            allows := 0;
            RETURN;
        END IF;
    END IF;
    opens := NULL;
    FOR i IN 1 .. cardinality(front.keys) LOOP
        SELECT h.running INTO running FROM {schema}.holdings AS h WHERE h.key = front.keys[i];
        IF running >= front.allowed[i] THEN
            IF NOT front.yields[i] THEN
                verdict := 'park';
                parked_under := 'limit:' || front.keys[i];
                allows := front.allowed[i];
                RETURN;
            END IF;
            gives_way := true;
        END IF;
    END LOOP;
    -- Only now is it the job's turn: until here, something made it wait.
    verdict := CASE WHEN gives_way THEN 'cancel' ELSE 'start' END;
END
$$;

-- Count a job of the line that starts, and note its start under its rate.
CREATE OR REPLACE FUNCTION {schema}.spend_1(front {schema}.fronts, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    rate json;
    recent record;
BEGIN
    IF cardinality(front.keys) > 0 THEN
        INSERT INTO {schema}.holdings AS h (key, running)
        SELECT k.key, count(*) FROM unnest(front.keys) AS k (key) GROUP BY k.key
        ON CONFLICT (key) DO UPDATE SET running = h.running + excluded.running;
    END IF;
    IF front.rate IS NOT NULL THEN
        rate := substr(front.rate, 6)::json;
        SELECT s.* INTO recent
        FROM {schema}.recent_starts_1(
            front.rate_key, (rate ->> 1)::bigint, (rate ->> 2)::bigint, moment
        ) AS r, {schema}.rate_with_start_1(
            r.times, r.counts, r.kept_for, (rate ->> 2)::bigint, moment
        ) AS s;
        INSERT INTO {schema}.rate_starts (key, times, counts, kept_for, outdated_at)
        VALUES (
            front.rate_key, recent.times, recent.counts, recent.kept_for,
            moment + recent.kept_for * interval '1 microsecond'
        )
        ON CONFLICT (key) DO UPDATE SET times = excluded.times, counts = excluded.counts,
            kept_for = excluded.kept_for, outdated_at = excluded.outdated_at;
    END IF;
END
$$;

-- A line has started a job or is out of the way: let in the next ones that have room.
CREATE OR REPLACE FUNCTION {schema}.replace_1(front {schema}.fronts, moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    limit_key text;
    opens timestamptz;
    best bigint;
BEGIN
    FOREACH limit_key IN ARRAY front.keys LOOP
        PERFORM {schema}.let_in_1(limit_key);
    END LOOP;
    IF front.rate IS NULL OR EXISTS (
        SELECT FROM {schema}.openings WHERE lane = front.lane AND parked = front.rate
    ) THEN
        RETURN;
    END IF;
    SELECT line INTO best FROM {schema}.fronts
    WHERE parked = front.rate AND lane = front.lane AND at_most = 0
    ORDER BY rank, run_at, id LIMIT 1;
    IF best IS NULL THEN
        RETURN;
    END IF;
    opens := {schema}.line_opens_1(front, moment);
    IF opens > moment THEN
        INSERT INTO {schema}.openings VALUES (front.lane, front.rate, opens)
        ON CONFLICT DO NOTHING;
    ELSE
        UPDATE {schema}.fronts SET parked = NULL WHERE line = best;
    END IF;
END
$$;

-- Whether the lines that are parked for a rate until then are to be looked at. No rate waits longer
-- than its period, which is in the name that they are parked under: if one would, the clock has gone
-- back.
CREATE FUNCTION {schema}.is_due_1(opens_at timestamptz, parked text, moment timestamptz)
RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT opens_at <= moment OR opens_at
        > moment + (substr(parked, 6)::json ->> 2)::bigint * interval '1 microsecond'
$$;

-- Let in one line of each rate of some lanes whose time has come.
CREATE OR REPLACE FUNCTION {schema}.reopen_rates_1(wanted integer[], moment timestamptz) RETURNS void
LANGUAGE sql AS $$
    WITH due AS (
        DELETE FROM {schema}.openings
        WHERE lane = ANY (wanted) AND {schema}.is_due_1(opens_at, parked, moment)
        RETURNING lane, parked
    )
    UPDATE {schema}.fronts AS f SET parked = NULL
    FROM due
    WHERE f.line = (
        SELECT g.line FROM {schema}.fronts AS g
        WHERE g.parked = due.parked AND g.lane = due.lane AND g.at_most = 0
        ORDER BY g.rank, g.run_at, g.id LIMIT 1
    )
$$;

-- Whether any line with terms may have something to start.
CREATE OR REPLACE FUNCTION {schema}.are_open_1(wanted integer[], moment timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM {schema}.arrivals WHERE lane = ANY (wanted)) THEN
        RETURN true;
    END IF;
    IF NOT EXISTS (SELECT FROM {schema}.fronts) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM {schema}.fronts WHERE parked IS NULL AND lane = ANY (wanted)
    ) OR EXISTS (
        SELECT FROM {schema}.openings
        WHERE lane = ANY (wanted) AND {schema}.is_due_1(opens_at, parked, moment)
    );
END
$$;

-- Whether any of some jobs has terms, so that to settle it takes the lock. Where no limit and no
-- rate is in use, as nearly always, nobody looks.
CREATE OR REPLACE FUNCTION {schema}.have_terms_1(ids bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM {schema}.holdings) AND NOT EXISTS (SELECT FROM {schema}.rate_starts)
        AND NOT EXISTS (SELECT FROM {schema}.paces)
    THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM {schema}.jobs AS j
        WHERE j.id = ANY (ids) AND j.node IS NOT NULL AND j.terms IS NOT NULL
    );
END
$$;
