"""The store's SQL."""
