"""Ticking: the leader fires due ticks and keeps stored schedules in line with the code."""
