"""Plumbing: clocks, threads, events, wake-ups and the shape of services."""
