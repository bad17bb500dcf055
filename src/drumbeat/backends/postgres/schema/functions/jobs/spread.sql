-- version: 1
-- An array of so many values; one value stands for all.
CREATE OR REPLACE FUNCTION {schema}.spread(few anyarray, many integer) RETURNS anyarray
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN cardinality(few) = 1 AND many > 1 THEN array_fill(few[1], ARRAY[many]) ELSE few
    END
$$;
