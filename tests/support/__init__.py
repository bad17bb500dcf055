"""Helpers that the tests of several folders use; those of one folder lie in it."""
