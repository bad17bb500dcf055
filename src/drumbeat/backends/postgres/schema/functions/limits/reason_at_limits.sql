-- version: 1
-- Why a job ends whose turn it is, and whose limits are reached: it is cancelled if one of these says
-- so or if it has run before, and otherwise skipped. The caller has the lock of limits.
CREATE OR REPLACE FUNCTION {schema}.reason_at_limits(limits text, attempt integer) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN attempt > 0 OR EXISTS (
            SELECT FROM json_array_elements(limits::json -> 0) AS l
            JOIN {schema}.limit_usage AS u ON u.key = l ->> 0
            WHERE l ->> 2 = 'cancel' AND u.running >= (l ->> 1)::integer
        ) THEN 'its limit was reached when its turn came'
        ELSE 'skipped because its limit was reached'
    END
$$;
