"""The PostgreSQL store."""

from drumbeat.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
