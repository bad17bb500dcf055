-- version: 1
-- The earliest instant at which a rate allows one more start; null: it does not limit it.
CREATE OR REPLACE FUNCTION {schema}.starts_open_at(
    times timestamptz[], counts integer[], at_most bigint, per bigint
) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    FOR i IN REVERSE cardinality(counts) .. 1 LOOP
        at_most := at_most - counts[i];
        IF at_most <= 0 THEN
            RETURN times[i] + per * interval '1 microsecond';
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
