"""Tests of what `deploy` and the Dockerfile hold."""
