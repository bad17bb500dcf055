-- version: 1
-- Whether a job of a batch has limits or a rate, so that settling the batch needs the lock of limits.
-- While no limit and no rate is in use, as nearly always, the jobs are not looked at.
CREATE OR REPLACE FUNCTION {schema}.have_limits(batch {schema}.settlements) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    ids bigint[];
BEGIN
    IF NOT EXISTS (SELECT FROM {schema}.limit_usage) AND NOT EXISTS (SELECT FROM {schema}.rate_starts)
    THEN
        RETURN false;
    END IF;
    ids := batch.plain::bigint[] || batch.completed || batch.ended;
    RETURN EXISTS (
        SELECT FROM {schema}.jobs AS j
        WHERE j.id = ANY (ids) AND j.node IS NOT NULL AND j.limits IS NOT NULL
    );
END
$$;
