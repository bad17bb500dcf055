"""Helpers that the tests of several folders share; those of one folder are in it."""
