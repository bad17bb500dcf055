"""Readers of other schedulers' files."""
