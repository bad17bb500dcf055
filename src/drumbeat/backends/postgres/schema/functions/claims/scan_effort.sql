-- version: 1
-- The effort of scans of the index of queued jobs in this transaction so far: entries that were read,
-- dead ones included. Entries that are known to be dead are skipped by the page.
CREATE OR REPLACE FUNCTION {schema}.scan_effort() RETURNS bigint
LANGUAGE sql AS $$
    SELECT pg_stat_get_xact_tuples_returned('{schema}.jobs_queued'::regclass)
        + 50 * pg_stat_get_xact_blocks_fetched('{schema}.jobs_queued'::regclass)
$$;
