-- version: 1
-- When jobs of each kind expire: a length after they are due, or an instant. Null: none does.
CREATE OR REPLACE FUNCTION {schema}.expiries_of(options text[], times timestamptz[])
RETURNS timestamptz[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    expiries timestamptz[];
    expires json;
    found boolean := false;
BEGIN
    FOR i IN 1 .. cardinality(options) LOOP
        expires := NULL;
        IF strpos(options[i], '"expires":') > 0 THEN -- spares most jobs the parsing
            expires := options[i]::json -> 'expires';
        END IF;
        expiries[i] := CASE json_typeof(expires)
            WHEN 'number' THEN times[i] + (expires #>> '{}')::bigint * interval '1 microsecond'
            WHEN 'string' THEN (expires #>> '{}')::timestamptz
        END;
        found := found OR expiries[i] IS NOT NULL;
    END LOOP;
    RETURN CASE WHEN found THEN expiries END;
END
$$;
