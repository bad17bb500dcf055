-- version: 1
-- Count a job of the group that starts under its limits and its rate.
CREATE OR REPLACE FUNCTION {schema}.count_start(
    starting {schema}.limit_groups, moment timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    starts record;
BEGIN
    IF cardinality(starting.limit_keys) > 0 THEN
        INSERT INTO {schema}.limit_usage AS u (key, running)
        SELECT k.key, count(*) FROM unnest(starting.limit_keys) AS k (key) GROUP BY k.key
        ON CONFLICT (key) DO UPDATE SET running = u.running + excluded.running;
    END IF;
    IF starting.rate IS NOT NULL THEN
        SELECT s.* INTO starts
        FROM {schema}.recent_starts(starting.rate_key, starting.rate_per, moment) AS r,
            {schema}.starts_with_one_more(
                r.times, r.counts, r.kept_for, starting.rate_per, moment
            ) AS s;
        INSERT INTO {schema}.rate_starts (key, times, counts, kept_for, outdated_at)
        VALUES (
            starting.rate_key, starts.times, starts.counts, starts.kept_for,
            moment + starts.kept_for * interval '1 microsecond'
        )
        ON CONFLICT (key) DO UPDATE SET times = excluded.times, counts = excluded.counts,
            kept_for = excluded.kept_for, outdated_at = excluded.outdated_at;
    END IF;
END
$$;
