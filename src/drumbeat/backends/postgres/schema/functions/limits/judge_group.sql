-- version: 1
-- What becomes of the first job of a limit group now: `start`, `cancel`, or `wait` for `waits_for`,
-- a limit that allows `at_most` jobs, or a rate that opens at `opens_at`.
CREATE OR REPLACE FUNCTION {schema}.judge_group(
    candidate {schema}.limit_groups, moment timestamptz,
    OUT verdict text, OUT waits_for text, OUT at_most integer, OUT opens_at timestamptz
)
LANGUAGE plpgsql AS $$
DECLARE
    running integer;
BEGIN
    verdict := 'start';
    IF candidate.rate IS NOT NULL THEN
        opens_at := {schema}.rate_opens_at(candidate, moment);
        IF opens_at > moment THEN
            verdict := 'wait';
            waits_for := candidate.rate;
            at_most := 0;
            RETURN;
        END IF;
    END IF;
    opens_at := NULL;
    FOR i IN 1 .. cardinality(candidate.limit_keys) LOOP
        SELECT u.running INTO running FROM {schema}.limit_usage AS u
        WHERE u.key = candidate.limit_keys[i];
        IF running >= candidate.allowed[i] THEN
            IF NOT candidate.cancels[i] THEN
                verdict := 'wait';
                waits_for := 'limit:' || candidate.limit_keys[i];
                at_most := candidate.allowed[i];
                RETURN;
            END IF;
            verdict := 'cancel'; -- unless another limit lets it wait: then it is not its turn yet
        END IF;
    END LOOP;
END
$$;
