"""Lifecycle: how a node starts, runs and stops."""
