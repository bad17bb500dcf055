"""The schema of a SQLite file, and its migrations."""
