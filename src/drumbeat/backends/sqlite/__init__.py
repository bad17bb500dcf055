"""The SQLite backend: store and coordinator in one file."""
