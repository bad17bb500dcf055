-- version: 1
-- When the rate of a limit group allows one more start; null: at any time.
CREATE OR REPLACE FUNCTION {schema}.rate_opens_at(
    of_group {schema}.limit_groups, moment timestamptz
) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
    recent record;
BEGIN
    SELECT * INTO recent
    FROM {schema}.recent_starts(of_group.rate_key, of_group.rate_per, moment);
    IF recent.clock_went_back THEN
        -- Written down, so that the wait ends: from now on it is judged by this clock.
        UPDATE {schema}.rate_starts AS r SET times = recent.times, counts = recent.counts
        WHERE r.key = of_group.rate_key;
    END IF;
    RETURN {schema}.starts_open_at(
        recent.times, recent.counts, of_group.rate_at_most, of_group.rate_per
    );
END
$$;
