"""Drumbeat."""
