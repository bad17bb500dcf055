"""Coordinators: they appoint leaders, grant locks, list nodes and keep small configuration."""
