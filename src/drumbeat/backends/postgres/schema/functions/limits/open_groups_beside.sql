-- version: 1
-- After a group has started a job, or turned out to be empty: open the next groups that wait for the
-- same limits or the same rate and have room.
CREATE OR REPLACE FUNCTION {schema}.open_groups_beside(
    served {schema}.limit_groups, moment timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    limit_key text;
    opens_at timestamptz;
    best bigint;
BEGIN
    FOREACH limit_key IN ARRAY served.limit_keys LOOP
        PERFORM {schema}.open_groups_under(limit_key);
    END LOOP;
    IF served.rate IS NULL OR EXISTS (
        SELECT FROM {schema}.rate_openings AS o WHERE o.lane = served.lane AND o.rate = served.rate
    ) THEN
        RETURN;
    END IF;
    SELECT g.id INTO best FROM {schema}.limit_groups AS g
    WHERE g.waits_for = served.rate AND g.lane = served.lane AND g.at_most = 0
    ORDER BY g.rank, g.run_at, g.job LIMIT 1;
    IF best IS NULL THEN
        RETURN;
    END IF;
    opens_at := {schema}.rate_opens_at(served, moment);
    IF opens_at > moment THEN
        INSERT INTO {schema}.rate_openings (lane, rate, rate_per, opens_at)
        VALUES (served.lane, served.rate, served.rate_per, opens_at)
        ON CONFLICT DO NOTHING;
    ELSE
        UPDATE {schema}.limit_groups SET waits_for = NULL WHERE id = best;
    END IF;
END
$$;
