"""Backends that are broken on purpose, each in one way that a real product once was.

They show that the conformance suites bite: each must fail the cases named for it.
"""
