"""Ports: the few things that the engine asks of the world, as protocols."""
