-- Finished jobs: appended to, and pruned by age.
--
-- Each index is in the order of a list. An index by lane or schedule, then by status, then by id
-- serves lists with and without a status: each status is a scan of its own that ends with the page.

CREATE TABLE {schema}.archive (
    id bigint PRIMARY KEY,
    run_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    started_at timestamptz, -- of the last attempt; null: there was none
    tick_at timestamptz,
    guarded_until timestamptz, -- not pruned before, because of its dedupe key; null: no key
    lane integer NOT NULL,
    attempt integer NOT NULL,
    fence integer NOT NULL,
    rank smallint NOT NULL,
    cancel_requested boolean NOT NULL,
    status text COLLATE "C" NOT NULL, -- completed, failed or cancelled
    arguments bytea NOT NULL,
    options text,
    limits text,
    tags text[],
    dedupe_key text COLLATE "C",
    schedule text COLLATE "C",
    node text,
    result bytea,
    error text,
    progress text
);

CREATE INDEX archive_by_age ON {schema}.archive (finished_at) WHERE guarded_until IS NULL;
CREATE INDEX archive_guarding ON {schema}.archive (guarded_until) WHERE guarded_until IS NOT NULL;
CREATE INDEX archive_by_key ON {schema}.archive (dedupe_key, id) WHERE dedupe_key IS NOT NULL;
CREATE INDEX archive_by_lane ON {schema}.archive (lane, status, id);
CREATE INDEX archive_by_schedule ON {schema}.archive (schedule, status, id)
    WHERE schedule IS NOT NULL;
CREATE INDEX archive_not_completed ON {schema}.archive (status, id) WHERE status <> 'completed';

-- The tags of finished jobs, cut at 100 characters. Triggers keep them; jobs without tags fire none.
CREATE TABLE {schema}.archive_tags (
    tag text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    PRIMARY KEY (tag, status, id)
);

-- The functions of triggers belong to the table: no node calls them, and a migration changes them.
CREATE FUNCTION {schema}.add_archived_tags() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.archive_tags (tag, status, id)
    SELECT left(t.tag, 100), NEW.status, NEW.id FROM unnest(NEW.tags) AS t (tag)
    WHERE t.tag IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE FUNCTION {schema}.remove_archived_tags() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM {schema}.archive_tags AS a
    WHERE a.status = OLD.status AND a.id = OLD.id
        AND a.tag = ANY (ARRAY(SELECT left(t.tag, 100) FROM unnest(OLD.tags) AS t (tag)));
    RETURN NULL;
END
$$;

CREATE TRIGGER tagged AFTER INSERT ON {schema}.archive
FOR EACH ROW WHEN (NEW.tags IS NOT NULL) EXECUTE FUNCTION {schema}.add_archived_tags();

CREATE TRIGGER untagged AFTER DELETE ON {schema}.archive
FOR EACH ROW WHEN (OLD.tags IS NOT NULL) EXECUTE FUNCTION {schema}.remove_archived_tags();
