-- version: 2
-- Open the first group of each rate of some lanes whose opening is due.
CREATE OR REPLACE FUNCTION {schema}.open_due_rates(wanted integer[], moment timestamptz)
RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    WITH due AS (
        DELETE FROM {schema}.rate_openings
        WHERE lane = ANY (wanted) AND {schema}.is_opening_due(opens_at, rate_per, moment)
        RETURNING lane, rate
    )
    UPDATE {schema}.limit_groups AS g SET waits_for = NULL
    FROM due
    WHERE g.id = (
        SELECT f.id FROM {schema}.limit_groups AS f
        WHERE f.waits_for = due.rate AND f.lane = due.lane AND f.at_most = 0
        ORDER BY f.rank, f.run_at, f.job LIMIT 1
    );
END
$$;
