-- Jobs that expire, and when. A job keeps its row until it has expired, is retried by hand or is
-- pruned, also while it runs or after its end.
CREATE TABLE expiring (
    id INTEGER PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX expiring_by_time ON expiring (expires_at, id);

-- For the list of the jobs that have expired.
CREATE INDEX finished_expired ON finished (id)
WHERE status = 'cancelled' AND error = 'expired before it could start';
