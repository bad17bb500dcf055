"""The SQLite file: what the store and the coordinator in it share.

Several processes use one file at once, each through threads of its own (`database.py`):

- **One writer** (`writer.py`, `transactions.py`). It makes every change of this process. All calls
  that wait when it is free become one transaction, `BEGIN IMMEDIATE` to `COMMIT`, and share its
  `fsync`: a lone caller does not wait, and a hundred callers cost little more than one. Nothing is
  awaited inside, so no pause of an event loop can hold the file's lock.
- **Readers** (`reader.py`), which see the last commit and never delay a writer.
- **A checkpointer** (`log/checkpointer.py`), which copies the write-ahead log into the file on its
  own connection when the log is too long, so that no commit has to do it.
- **A messenger** (`hints/messenger.py`), which sends a datagram to the other processes after a
  change, and wakes the listeners of this process when one arrives.

Around them: where the file may be, whether it is ours and who may read it (`file/`), how it is
opened (`connections.py`), what its errors mean (`errors.py`), and its statements (`statements.py`).
"""
