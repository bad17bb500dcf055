"""The MongoDB store: any number of processes on one database.

The memory store is the specification; this store is the same with operations on single documents
only, which MongoDB makes atomic everywhere. `docs/adr/0040` and `docs/adr/0041` say why and how.

**A step on one document** is one guarded write. A job is changed by `jobs/job_writes.py`: read,
decided from the whole document, and written if it is still as it was read. Whoever makes earlier
looks invalid (a pause, a heartbeat after a death, the repair of a limit) raises the revisions of
the jobs that were looked at.

**A step on several documents** is made by `decisions.py`: everything is prepared so that nobody
sees it, then one document decides, then everything is finished, by whoever comes first.

**Time** is the server's clock (`server_time.py`). Instants are numbers of microseconds.
"""

from drumbeat.backends.mongo.store.store import MongoStore

__all__ = ["MongoStore"]
