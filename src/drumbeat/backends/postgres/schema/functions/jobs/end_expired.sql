-- version: 1
-- End waiting jobs as cancelled that have expired. The caller has locked them.
CREATE OR REPLACE FUNCTION {schema}.end_expired(ids bigint[], moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO {schema}.tallies (lane, pending, queued, cancelled)
    SELECT j.lane, -count(*) FILTER (WHERE j.status = 'pending'),
        -count(*) FILTER (WHERE j.status = 'queued'), count(*)
    FROM {schema}.jobs AS j WHERE j.id = ANY (ids) GROUP BY j.lane;
    PERFORM {schema}.archive_job(u.id, 'cancelled', 'expired before it could start', NULL, moment)
    FROM unnest(ids) AS u (id);
    PERFORM pg_notify({channels} || 'finished', '');
END
$$;
