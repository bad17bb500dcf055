-- version: 1
-- Starts as seen by a clock that says `moment`, which may have gone back: later ones count as now.
CREATE OR REPLACE FUNCTION {schema}.starts_as_of(
    INOUT times timestamptz[], INOUT counts integer[], moment timestamptz
)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    future integer := 0;
BEGIN
    WHILE cardinality(times) > 0 AND times[cardinality(times)] >= moment LOOP
        future := future + counts[cardinality(counts)];
        times := times[1 : cardinality(times) - 1];
        counts := counts[1 : cardinality(counts) - 1];
    END LOOP;
    IF future > 0 THEN
        times := times || moment;
        counts := counts || future;
    END IF;
END
$$;
