"""Schedules, their policies and the plans for their ticks."""
