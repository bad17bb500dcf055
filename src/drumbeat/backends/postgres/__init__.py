"""The PostgreSQL backend: store and coordinator."""
