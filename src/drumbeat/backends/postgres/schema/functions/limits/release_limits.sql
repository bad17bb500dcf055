-- version: 1
-- Running jobs with these limits have ended: open the groups that waited for their room, and wake
-- workers for them.
CREATE OR REPLACE FUNCTION {schema}.release_limits(all_limits text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    limit_keys text[] := ARRAY(
        SELECT l ->> 0
        FROM unnest(all_limits) AS a (limits), json_array_elements(a.limits::json -> 0) AS l
    );
    limit_key text;
    opened boolean := false;
BEGIN
    UPDATE {schema}.limit_usage AS u SET running = u.running - e.jobs
    FROM (SELECT k.key, count(*) FROM unnest(limit_keys) AS k (key) GROUP BY k.key) AS e (key, jobs)
    WHERE u.key = e.key;
    DELETE FROM {schema}.limit_usage WHERE key = ANY (limit_keys) AND running <= 0;
    FOREACH limit_key IN ARRAY limit_keys LOOP
        opened := {schema}.open_groups_under(limit_key) IS NOT NULL OR opened;
    END LOOP;
    -- A job that has only just arrived is in no group yet, and may wait for this room, too.
    IF opened OR EXISTS (SELECT FROM {schema}.limit_group_arrivals) THEN
        PERFORM pg_notify({channels} || 'jobs', '');
    END IF;
END
$$;
