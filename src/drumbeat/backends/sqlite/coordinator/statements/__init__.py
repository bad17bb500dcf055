"""The coordinator's SQL."""
