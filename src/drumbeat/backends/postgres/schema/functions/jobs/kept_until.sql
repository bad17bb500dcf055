-- version: 1
-- Until when a finished job is not pruned, whatever its age: its dedupe key is in use, or its task has
-- a retention of its own. Null: neither.
CREATE OR REPLACE FUNCTION {schema}.kept_until(
    dedupe_key text, options text, finished_at timestamptz
) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN strpos(options, '"retention":') > 0 THEN greatest(
            {schema}.guarded_until(dedupe_key, options, finished_at),
            finished_at + (options::json ->> 'retention')::bigint * interval '1 microsecond'
        )
        ELSE {schema}.guarded_until(dedupe_key, options, finished_at)
    END
$$;
