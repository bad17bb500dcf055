"""The memory backend: the executable specification of the others."""
