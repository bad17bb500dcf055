-- version: 1
-- The recent starts under the key of a rate. `clock_went_back` says that the clock has gone back
-- since they were written.
CREATE OR REPLACE FUNCTION {schema}.recent_starts(
    of_key text, per bigint, moment timestamptz,
    OUT times timestamptz[], OUT counts integer[], OUT kept_for bigint, OUT clock_went_back boolean
)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT r.times, r.counts, r.kept_for INTO times, counts, kept_for
    FROM {schema}.rate_starts AS r WHERE r.key = of_key;
    IF NOT FOUND THEN
        times := '{}';
        counts := '{}';
        kept_for := per;
    END IF;
    clock_went_back := coalesce(times[cardinality(times)] > moment, false);
    IF clock_went_back THEN
        SELECT s.times, s.counts INTO times, counts
        FROM {schema}.starts_as_of(times, counts, moment) AS s;
    END IF;
END
$$;
