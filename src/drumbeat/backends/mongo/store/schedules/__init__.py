"""Schedules, and the ledger of their ticks."""
