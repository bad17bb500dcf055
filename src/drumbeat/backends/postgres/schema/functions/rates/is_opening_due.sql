-- version: 1
-- Whether the groups that wait for an opening are to be looked at. No rate waits for longer than its
-- period: an opening that is farther away means that the clock has gone back.
CREATE OR REPLACE FUNCTION {schema}.is_opening_due(
    opens_at timestamptz, rate_per bigint, moment timestamptz
) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT opens_at <= moment OR opens_at > moment + rate_per * interval '1 microsecond'
$$;
