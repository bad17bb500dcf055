"""Backends: one folder per server, each with its connection, store, coordinator and schema."""
