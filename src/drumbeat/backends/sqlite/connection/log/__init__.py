"""The write-ahead log: how long it may become, and how it is checkpointed."""
