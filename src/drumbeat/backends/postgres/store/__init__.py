"""The PostgreSQL store: any number of processes on one database.

The memory store is the specification; this store is the same in tables and functions
(`backends/postgres/schema`). `docs/adr/0015` and `docs/adr/0034` say why.

**One round trip.** Every call of the port is one statement in autocommit, even if it settles a
hundred attempts and claims the next hundred. Several statements are one function of the schema. A
batch is sent as a composite of arrays, which is a named tuple here; values that all jobs of a batch
have in common are sent once.

**No deadlocks.** All statements take locks in the same order: the lock of limits, the fence,
schedules by name, jobs by id. Batches are sorted so here, and verdicts are in the caller's order.

**The server's clock decides**, unless the caller gives an instant. Functions read it after they
have their locks.

A claim is `jobs/claims.py`, `schema/types/claims.sql`, and the functions `take_jobs` and
`choose_jobs`; with limits, `choose_with_limits` too.
"""

from drumbeat.backends.postgres.store.store import PostgresStore

__all__ = ["PostgresStore"]
