"""Calls to the HTTP API of Consul."""
