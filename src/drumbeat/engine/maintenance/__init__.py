"""Maintenance: the leader's services that promote, reap and prune jobs."""
