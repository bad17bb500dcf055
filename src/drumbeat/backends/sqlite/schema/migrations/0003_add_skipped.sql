-- For the list of the jobs that were skipped because their limit was reached.
CREATE INDEX finished_skipped ON finished (id)
WHERE status = 'cancelled' AND error = 'skipped because its limit was reached';
