-- deploy: before
-- Lists: whichever way people ask for finished jobs, one index has them in the order of the list.
--
-- An index by lane, schedule or tag, then by how a job ended, then by number, answers a question for
-- any of them with or without a status: each status is a scan of its own that ends with the page.
-- They take the place of indexes that could not, so that ending a job costs what it did. A node of an
-- older version stays right without these, only slower.

CREATE INDEX archive_by_lane_and_end ON {schema}.archive (lane, status, id);
DROP INDEX {schema}.archive_by_lane;

CREATE INDEX archive_by_schedule_and_end ON {schema}.archive (schedule, status, id)
    WHERE schedule IS NOT NULL;
DROP INDEX {schema}.archive_by_schedule;

-- The tags of finished jobs, or their beginnings if they are long. Written by triggers, which jobs
-- without tags do not set off.
CREATE TABLE {schema}.archive_tags (
    tag text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    PRIMARY KEY (tag, status, id)
);

INSERT INTO {schema}.archive_tags (tag, status, id)
SELECT DISTINCT left(t.tag, 100), a.status, a.id
FROM {schema}.archive AS a CROSS JOIN LATERAL unnest(a.tags) AS t (tag)
WHERE a.tags IS NOT NULL AND t.tag IS NOT NULL;

DROP INDEX {schema}.archive_by_tag;

-- Those that are not finished and have tags: nothing for jobs without.
CREATE INDEX jobs_tagged ON {schema}.jobs (id) WHERE tags IS NOT NULL;

CREATE FUNCTION {schema}.tag_1() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.archive_tags (tag, status, id)
    SELECT left(t.tag, 100), NEW.status, NEW.id FROM unnest(NEW.tags) AS t (tag)
    WHERE t.tag IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION {schema}.untag_1() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM {schema}.archive_tags AS a
    WHERE a.status = OLD.status AND a.id = OLD.id
        AND a.tag = ANY (ARRAY(SELECT left(t.tag, 100) FROM unnest(OLD.tags) AS t (tag)));
    RETURN NULL;
END
$$;

CREATE TRIGGER tagged AFTER INSERT ON {schema}.archive
FOR EACH ROW WHEN (NEW.tags IS NOT NULL) EXECUTE FUNCTION {schema}.tag_1();

CREATE TRIGGER untagged AFTER DELETE ON {schema}.archive
FOR EACH ROW WHEN (OLD.tags IS NOT NULL) EXECUTE FUNCTION {schema}.untag_1();

-- The largest number of a job that was created before an instant, about. A job's number and its time
-- are drawn together, so they rise together, but for those who draw at the same moment: a search by
-- halves along the primary keys finds the place, and who asks leaves a minute to either side.
DROP INDEX {schema}.archive_by_creation;

CREATE FUNCTION {schema}.number_at_1(moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    low bigint := 0;
    high bigint;
    middle bigint;
    found timestamptz;
BEGIN
    SELECT greatest(
        (SELECT max(j.id) FROM {schema}.jobs AS j), (SELECT max(a.id) FROM {schema}.archive AS a)
    ) + 1 INTO high;
    -- Those up to `low` were created before, and those from `high` on were not.
    WHILE low + 1 < high LOOP
        middle := low + (high - low) / 2;
        SELECT n.created_at, n.id INTO found, middle FROM (
            (
                SELECT j.created_at, j.id FROM {schema}.jobs AS j
                WHERE j.id >= middle ORDER BY j.id LIMIT 1
            )
            UNION ALL
            (
                SELECT a.created_at, a.id FROM {schema}.archive AS a
                WHERE a.id >= middle ORDER BY a.id LIMIT 1
            )
        ) AS n ORDER BY n.id LIMIT 1;
        IF found < moment THEN
            low := middle;
        ELSE
            high := low + (high - low) / 2; -- from there to the one that was found there is none
        END IF;
    END LOOP;
    RETURN low;
END
$$;
