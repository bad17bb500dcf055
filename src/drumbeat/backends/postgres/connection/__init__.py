"""The PostgreSQL database: what the store and the coordinator in it share.

- **One statement, one round trip.** Every call of a port is one statement in autocommit, prepared
  once and kept. No lock is held between statements, and it works behind a pooler too.
- **A pool for each event loop** (`pool.py`), small, opened on demand. A connection whose caller was
  cancelled is checked before the next one gets it.
- **A listener for each event loop** (`listener.py`) on a connection of its own. Notifications are
  hints; behind a pooler, polling four times a second replaces them.
- **A schema for each namespace** (`backends/postgres/schema`). The first node to start applies
  migrations that older nodes can work with; a person applies the others.

Besides: addresses (`address.py`), connecting and checking the server (`connector.py`), errors
(`failures.py`), SQL from files (`statements.py`), and the one file that imports asyncpg
(`client.py`).
"""
