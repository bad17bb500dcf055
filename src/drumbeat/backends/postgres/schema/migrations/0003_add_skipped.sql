-- deploy: before
-- For the list of the jobs that were skipped because their limit was reached.
CREATE INDEX archive_skipped ON {schema}.archive (id)
    WHERE status = 'cancelled' AND error = 'skipped because its limit was reached';
