"""Schedules and their ledger on PostgreSQL."""
