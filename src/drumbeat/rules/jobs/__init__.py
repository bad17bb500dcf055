"""Status changes, retries and limits of jobs."""
