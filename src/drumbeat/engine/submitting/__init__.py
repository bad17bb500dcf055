"""Submitting: creates jobs in the store, from the event loop, threads and callers' transactions."""
