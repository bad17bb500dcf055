"""Jobs, their attempts, retries, queues and bulk operations."""
