"""The SQLite store: one file, several processes, nothing to install.

`backends.sqlite.connection` has the threads that use the file, its batching writer and its hints;
this package has what is written. It does the same as the memory store, in tables
(`backends/sqlite/schema/tables`).

**Small hot tables.** A job is written once into `jobs` and stays there until it is pruned. Its
status is in one of four other tables, `pending`, `queued`, `running` and `finished`; a claim moves
a row of a few numbers from one to the next and does not touch the job itself, nor does its end. So
nothing gets slower as finished jobs accumulate: they are only appended, and found by their id or by
the age at which they are pruned.

**Few steps.** SQLite releases the interpreter's lock at every step, and a thread that competes with
a busy event loop waits up to five milliseconds to get it back. So a batch writes many rows with one
statement, and counts in memory what it writes once (`session.py`). It takes about ten steps to
settle a batch and claim the next one.

**A blocked job is not looked at twice.** Jobs of one lane with the same limits and rate are a limit
group (`jobs/limit_groups.py`). A group whose first job may not start is parked under what blocks it
and is opened when that has changed (`jobs/admission.py`).

**Decide, then write.** Inside `BEGIN IMMEDIATE` nobody else writes, so what was read stays true
until the commit. Steps reject invalid input before they write. Nothing is awaited inside a
transaction.

A claim is four files: `jobs/claim.py` decides, with `jobs/admission.py` for limits and rates,
`jobs/claimed_jobs.py` writes, and `statements/claims.sql` has the statements.
"""

from drumbeat.backends.sqlite.store.store import SqliteStore

__all__ = ["SqliteStore"]
