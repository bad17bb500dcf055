"""The SQLite file: what the store and the coordinator in it share.

Several processes use one file at once, each through threads of its own (`database.py`):

- **One writer** (`writer.py`). Every change of this process goes through it. All calls that wait
  when it is free become one transaction, `BEGIN IMMEDIATE` to `COMMIT`, and share its one `fsync`:
  a lone caller waits for nobody, and a hundred callers cost little more than one. Nothing is
  awaited inside, so no pause of an event loop can hold the file's lock.
- **Readers** (`reader.py`), which see what was committed last and never hold a writer up.
- **A checkpointer** (`checkpointer.py`), which copies the write-ahead log into the file on its own
  connection, whenever the log is too long and whoever wrote it, so that no commit has to do it.
- **A messenger** (`messenger.py`), which tells the other processes that something has changed, by
  a datagram to each, and wakes whoever waits here when one comes in.

Around them: what kind of file and file system will do (`location.py`, `identity.py`), who may read
the files (`privacy.py`), how the schema came to be (`migrating.py` and `migrations/`), what errors
of SQLite mean (`failures.py`), and how SQL is read from files (`statements.py`).
"""
