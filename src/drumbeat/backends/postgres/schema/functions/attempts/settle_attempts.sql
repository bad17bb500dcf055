-- version: 1
-- Close the attempts whose holds are current, as a call of its own.
CREATE OR REPLACE FUNCTION {schema}.settle_attempts(
    batch {schema}.settlements, at timestamptz, OUT verdicts {schema}.settlement_verdicts
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF {schema}.have_limits(batch) THEN
        PERFORM {schema}.lock_limits();
    END IF;
    verdicts := {schema}.settle_batch(batch, coalesce(at, clock_timestamp()));
END
$$;
