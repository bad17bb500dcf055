"""Wiring: backends and settings become a node. The only package that knows every service."""
