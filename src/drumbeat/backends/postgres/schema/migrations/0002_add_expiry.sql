-- deploy: before
-- From when on a job that waits may not start any more; null: it does not expire. The table of
-- unfinished jobs is small, and the column is null in all rows.
ALTER TABLE {schema}.jobs ADD COLUMN expires_at timestamptz;

CREATE INDEX jobs_expiring ON {schema}.jobs (expires_at, id)
    WHERE expires_at IS NOT NULL AND status <> 'running';

-- For the list of the jobs that have expired.
CREATE INDEX archive_expired ON {schema}.archive (id)
    WHERE status = 'cancelled' AND error = 'expired before it could start';
