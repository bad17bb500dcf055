"""The Consul backend."""
