"""The memory store: the executable specification of every store.

It keeps the data of one process in plain dictionaries. It is the reference for the other stores:
where a sentence of `ports.store` leaves room, what happens here is what is meant, and the
conformance suites test it.

**Atomic.** Each method is one step under one lock (`step.py`) and awaits nothing inside, so it is
atomic on one event loop and also between threads, each with a loop of its own. It rejects invalid
input before the first write. Hints are sent after the lock is released.

**Fast.** A job costs a few microseconds from insert to settled. Jobs are mutable slotted records
inside (`job_record.py`) and become frozen values only when they are returned, by a faster
constructor (`model.fast_construction`). Queued jobs are in one queue per lane (`ordered_queue.py`,
`lanes.py`), nearly always appended in order, so a claim takes the first without a search. A job
that leaves early is not searched for either: its entry is dead, and is dropped when its turn comes.

**A blocked job is not looked at twice.** A job whose limit is reached or whose rate is used up
leaves its queue and is parked under the key that blocks it (`admission.py`). One comes back for
each job that ends, or when the rate lets the next one start. A worker does not look at the lanes of
tasks that it does not know.

**A million schedules.** They are kept as they were given; the due index (`due_index.py`) has their
names by the instant of their next tick, so that all of one minute are one bucket.

The layers, from the bottom: records and lanes; the job table, which makes every status change of a
job; claims, schedules, ledger, nodes, fence and retention, one file each; `store.py`, which puts
them together.
"""

from drumbeat.backends.memory.store.store import MemoryStore

__all__ = ["MemoryStore"]
