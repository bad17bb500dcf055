-- version: 1
-- Until when a finished job stands for its dedupe key; null: it has none.
CREATE OR REPLACE FUNCTION {schema}.guarded_until(
    dedupe_key text, options text, finished_at timestamptz
) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN dedupe_key IS NOT NULL THEN finished_at + coalesce(
        (options::json ->> 'dedupe_for')::bigint, 86400000000
    ) * interval '1 microsecond' END
$$;
