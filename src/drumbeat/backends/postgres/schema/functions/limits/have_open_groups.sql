-- version: 1
-- Whether a limit group of some lanes may have a job to start.
CREATE OR REPLACE FUNCTION {schema}.have_open_groups(wanted integer[], moment timestamptz)
RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM {schema}.limit_group_arrivals WHERE lane = ANY (wanted)) THEN
        RETURN true;
    END IF;
    IF NOT EXISTS (SELECT FROM {schema}.limit_groups) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM {schema}.limit_groups WHERE waits_for IS NULL AND lane = ANY (wanted)
    ) OR EXISTS (
        SELECT FROM {schema}.rate_openings
        WHERE lane = ANY (wanted) AND {schema}.is_opening_due(opens_at, rate_per, moment)
    );
END
$$;
