-- version: 1
-- The limit group of a job: a negative number for its lane and limits; without limits, its lane.
CREATE OR REPLACE FUNCTION {schema}.limit_group_of(lane integer, limits text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN limits IS NULL THEN lane
        ELSE -1 - (hashtextextended(limits, lane) & 9223372036854775807)
    END
$$;
