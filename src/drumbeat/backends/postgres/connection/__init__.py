"""The PostgreSQL database: what the store and the coordinator in it share.

- **One statement, one round trip.** Every call of a port is one statement in autocommit, prepared
  once and kept: no lock is ever held across a pause of ours, and it works behind a pooler too.
- **A pool for each event loop** (`pool.py`), small, opened on demand. A connection whose caller was
  cancelled is looked after before the next one gets it.
- **A listener for each event loop** (`listener.py`) on a connection of its own. Notifications are
  hints; behind a pooler they are replaced by a look every quarter of a second.
- **A schema for each namespace** (`migrating.py` and `migrations/`), which grows by numbered files,
  those that older nodes can live with by themselves, the others when a person asks for it.

Around them: what an address says (`address.py`), what kind of server will do (`connecting.py`),
what errors mean (`failures.py`), how SQL is read from files (`statements.py`), and the one file
that touches the client (`client.py`).
"""
