"""The PostgreSQL store: any number of processes on one database.

Connections, statements, migrations and hints are described in `drumbeat.postgres`; this package
says what is asked. Where the memory store is the specification, this is the same in tables
(`postgres/migrations/0001_store.sql`) and in functions that are installed beside them, one for each
step that takes more than one statement. `docs/adr/0015` says why.

**One round trip.** Every call of the port is one statement in autocommit, also where it settles a
hundred attempts and claims the next hundred. Values go as arrays of plain types: what many jobs of
a batch have in common goes once (`specs.py`), and what only few have goes only if one of them does.

**Nobody waits in a circle.** Everybody takes locks in the same order: the lock of limits, the
fence, schedules by name, jobs by number. So batches are put in that order here (`settlements.py`,
`commits.py`), and verdicts back in the order of the caller.

**The server's clock decides.** `clock_timestamp()` is the instant to judge by, unless one is given.

**Claims stay quick** however many jobs were claimed before (`watermark.py`).

The layers, from the bottom: texts, lengths, terms, lanes; specs, settlements, plans and edits as
arrays, rows as values; the roles of the port; `store.py`, which puts them together, and
`joining.py`, for transactions of the caller's own.
"""

from drumbeat.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
