"""Cron expressions: syntax, evaluation and description."""
