"""Tests of the Django package: each runs Django in a process of its own."""
