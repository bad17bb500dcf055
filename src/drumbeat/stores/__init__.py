"""Stores: they hold the truth and decide. One package per backend; none knows of another."""
