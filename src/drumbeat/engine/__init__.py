"""The engine: services, each one loop around one pass."""
