"""Hints to other processes that the file has changed."""
