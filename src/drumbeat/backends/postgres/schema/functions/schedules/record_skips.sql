-- version: 1
-- Record runs of ticks that did not fire in the ledger, for the plans that stand.
CREATE OR REPLACE FUNCTION {schema}.record_skips(
    names text[], stands boolean[], skips {schema}.plan_skips, leader text, epoch bigint,
    moment timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
    INSERT INTO {schema}.ticks (
        schedule, tick_at, number, recorded_at, through, count, reason, leader, epoch
    )
    SELECT names[k.plan], k.tick, nextval('{schema}.tick_numbers'), moment, k.through, k.count,
        k.reason, leader, epoch
    FROM unnest(skips.plans, skips.ticks, skips.throughs, skips.counts, skips.reasons)
        AS k (plan, tick, through, count, reason)
    WHERE stands[k.plan];
END
$$;
