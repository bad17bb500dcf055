-- version: 2
-- An id for the job of each tick that fires: null for a tick that has fired before, that comes twice,
-- or whose plan does not stand.
--
-- What is looked up for each tick is a value and not an EXISTS, for which the planner would read the
-- whole ledger once.
CREATE OR REPLACE FUNCTION {schema}.fire_ids(
    names text[], stands boolean[], plans integer[], ticks timestamptz[]
) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(
        SELECT CASE
            WHEN stands[f.plan] AND f.turn = 1 AND (
                SELECT t.number FROM {schema}.ticks AS t
                WHERE t.schedule = names[f.plan] AND t.tick_at = f.tick AND t.number = 0
            ) IS NULL THEN nextval('{schema}.job_ids')
        END
        FROM (
            SELECT u.*, row_number() OVER (PARTITION BY u.plan, u.tick ORDER BY u.n) AS turn
            FROM unnest(plans, ticks) WITH ORDINALITY AS u (plan, tick, n)
            ORDER BY u.n
        ) AS f
    );
END
$$;
