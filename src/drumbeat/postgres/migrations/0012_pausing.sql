-- deploy: before
-- Pausing: no job of a paused queue is chosen.
--
-- The functions that choose jobs keep their names and take the lanes of paused queues out first, so
-- that every version of `take` obeys, also those of older nodes. With no queue paused that is a weak
-- lock and a look at an empty table for each claim, whatever its size.

-- The lanes of paused queues; null: no queue is paused. The lock lasts until the claim is committed:
-- `pause_1` waits for it, so whoever claims after a pause was acknowledged has seen it. Backups and
-- readers do not ask for a lock that is in its way. It is the last lock that a claim asks for.
CREATE FUNCTION {schema}.paused_lanes_1() RETURNS integer[]
LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE {schema}.paused_queues IN ROW SHARE MODE;
    IF EXISTS (SELECT FROM {schema}.paused_queues) THEN
        RETURN ARRAY(
            SELECT l.id FROM {schema}.lanes AS l
            WHERE l.queue = ANY (ARRAY(SELECT p.queue FROM {schema}.paused_queues AS p))
        );
    END IF;
    RETURN NULL;
END
$$;

ALTER FUNCTION {schema}.choose_1(integer[], integer) RENAME TO choose_open_1;

-- Choose and lock jobs of lines without terms, but for those of paused queues.
CREATE FUNCTION {schema}.choose_1(wanted integer[], most integer) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
    paused integer[] := {schema}.paused_lanes_1();
BEGIN
    IF paused IS NOT NULL THEN
        wanted := ARRAY(SELECT w.lane FROM unnest(wanted) AS w (lane) WHERE w.lane <> ALL (paused));
    END IF;
    RETURN {schema}.choose_open_1(wanted, most);
END
$$;

ALTER FUNCTION {schema}.choose_above_1(bigint[], smallint[], timestamptz[], bigint[], integer)
RENAME TO choose_open_above_1;

-- The same above a mark in each line and rank.
CREATE FUNCTION {schema}.choose_above_1(
    lines bigint[], ranks smallint[], times timestamptz[], ids bigint[], most integer
) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
    paused integer[] := {schema}.paused_lanes_1();
BEGIN
    IF paused IS NOT NULL THEN
        SELECT array_agg(m.line), array_agg(m.rank), array_agg(m.run_at), array_agg(m.id)
        INTO lines, ranks, times, ids
        FROM unnest(lines, ranks, times, ids) AS m (line, rank, run_at, id)
        WHERE m.line <> ALL (paused::bigint[]);
        IF lines IS NULL THEN
            RETURN '{}';
        END IF;
    END IF;
    RETURN {schema}.choose_open_above_1(lines, ranks, times, ids, most);
END
$$;

ALTER FUNCTION {schema}.merge_1(integer[], integer, integer, text, timestamptz)
RENAME TO merge_open_1;

-- Choose jobs of lanes where lines with terms are open, but for lanes of paused queues.
CREATE FUNCTION {schema}.merge_1(
    wanted integer[], most integer, ahead integer, holder text, moment timestamptz,
    OUT chosen bigint[], OUT started bigint[], OUT cancelled bigint[], OUT lines bigint[],
    OUT again boolean
)
LANGUAGE plpgsql AS $$
DECLARE
    paused integer[] := {schema}.paused_lanes_1();
BEGIN
    IF paused IS NOT NULL THEN
        wanted := ARRAY(SELECT w.lane FROM unnest(wanted) AS w (lane) WHERE w.lane <> ALL (paused));
    END IF;
    SELECT m.chosen, m.started, m.cancelled, m.lines, m.again
    INTO chosen, started, cancelled, lines, again
    FROM {schema}.merge_open_1(wanted, most, ahead, holder, moment) AS m;
END
$$;
