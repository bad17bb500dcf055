"""The SQLite store: one file, several processes, nothing to install.

The threads that use the file, its batching writer and its hints are described in
`drumbeat.sqlite`; this package says what is written. Where the memory store is the specification,
this is the same in tables (`sqlite/migrations/0001_store.sql`).

**Small hot tables.** A job is written once into `jobs` and stays there until it is forgotten. Where
it stands is said by one of four other tables, `pending`, `queued`, `running` and `finished`; a
claim moves a row of a few numbers from the one to the next and does not touch the job itself, nor
does its end. So nothing gets slower as finished jobs pile up: they are only ever appended, and
found by their number or by the age at which they are forgotten.

**Few steps.** Every step of SQLite lets go of the interpreter's lock, and a thread that competes
with a busy event loop waits up to five milliseconds to get it back. So what a batch has to write is
written in one statement of many rows, and what has to be counted is counted in memory and written
once (`session.py`). A batch is settled and the next one claimed in about ten steps.

**Never the same blocked job twice.** Jobs with the same limits and rate form a line (`lines.py`),
for which its first job stands. A line that may not start is parked under what holds it up and comes
back when that has changed (`admission.py`), as in the memory store, but for lines and not for jobs.

**Decide, then write.** Inside `BEGIN IMMEDIATE` nobody else writes, so what was read stays true
until the commit. Steps refuse before they write. Nothing is awaited inside a transaction.

The layers, from the bottom: rows, lines and the session; creating, settling, claiming, cancelling,
committing, one file each; the roles of the port; `store.py`, which puts them together.
"""

from drumbeat.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
