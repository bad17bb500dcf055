"""Connections to MongoDB: what the store and the coordinator share.

```python
server = Server(parse(address), clock, namespace)
await server.open(["jobs", "schedules"], prepare)   # checks the server and these names, once
with server.calls() as collections:                 # the client's errors become `Unavailable`
    document = await collections["jobs"].find_one_and_update(...)
unsubscribe = server.subscribe("hints", "jobs", wake)   # the document {_id: "jobs"} changed
```

**Names.** The collection `jobs` of the namespace `drumbeat` is `drumbeat.jobs`, in the database
that the address names, else in `drumbeat`. `Collections` knows them by their short names. The
coordinator keeps everything in `<namespace>.coordinator`; all other names belong to the store.

**Every decision is one operation on one document**, since that is what MongoDB does atomically
everywhere: no transactions, no sessions, no updates by a pipeline. The server's clock is `$$NOW` in
filters and projections and `$currentDate` in updates, and both are the primary's.

**What an answer means.** Writes are acknowledged by a majority, with their journal on disk; reads
see only what a majority has. A write that was sent and not answered, or that the primary has made
and a majority has not confirmed in time, has an unknown outcome: the caller gets `Unavailable` and
reads the state again. Nothing is sent twice, so retryable writes are off: they would hide an outage
only from those who are ready for it. A duplicate key is an answer and not a failure:
`DuplicateKeyError` and a `BulkWriteError` of nothing else leave `calls` as they are.

**A client for each event loop.** Clients belong to the loop they were made on. A `Server` may be
used from the loops of several threads and keeps a client for each. A forked child makes its own.

**The server check** (`server_check`) rejects what cannot work, and says so: a server that is too
old, a user without the rights, a view or a capped collection at one of our names. A standalone
server works; nodes that start and `drumbeat doctor` advise against it (`advice`), because a single
disk holds everything.

**Hints** are about one document of a small collection, so a writer that wants to wake others
changes a document there. Change streams exist only in replica sets and sharded clusters; on other
servers everybody looks again after a short time.
"""
