"""Processes that run nodes."""
