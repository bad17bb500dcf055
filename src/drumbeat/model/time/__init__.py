"""Instants, durations, zones and calendars."""
