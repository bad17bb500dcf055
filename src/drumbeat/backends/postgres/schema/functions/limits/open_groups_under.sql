-- version: 2
-- Open the first group of each lane and number that waits for a limit which has room again. Returns
-- the opened groups; null: none.
CREATE OR REPLACE FUNCTION {schema}.open_groups_under(limit_key text) RETURNS bigint[]
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    running integer;
    opened bigint[];
BEGIN
    -- Most limits have nobody waiting: this is much cheaper than an update of nothing.
    IF NOT EXISTS (
        SELECT FROM {schema}.limit_groups AS g WHERE g.waits_for = 'limit:' || limit_key
    ) THEN
        RETURN NULL;
    END IF;
    SELECT u.running INTO running FROM {schema}.limit_usage AS u WHERE u.key = limit_key;
    WITH opened AS (
        UPDATE {schema}.limit_groups SET waits_for = NULL, at_most = 0
        WHERE id = ANY (ARRAY(
            SELECT DISTINCT ON (g.lane, g.at_most) g.id FROM {schema}.limit_groups AS g
            WHERE g.waits_for = 'limit:' || limit_key AND g.at_most > coalesce(running, 0)
            ORDER BY g.lane, g.at_most, g.rank, g.run_at, g.job
        ))
        RETURNING id
    )
    SELECT array_agg(o.id) INTO opened FROM opened AS o;
    RETURN opened;
END
$$;
