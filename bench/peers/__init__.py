"""Drumbeat beside its peers."""
