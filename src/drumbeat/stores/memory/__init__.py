"""The memory store: the executable specification of every store.

It keeps the truth of one process in plain dictionaries, and it is the reference that the other
stores are measured against: where a sentence of `ports.store` leaves room, what happens here is
what is meant, and the conformance suites pin it down.

**Atomic.** Each method is one step under one lock (`step.py`) and awaits nothing inside, so it
happens as a whole on one event loop and also between threads, each with a loop of its own. What
can be refused is refused before the first write. Hints go out after the lock is let go.

**Fast.** A job costs a few microseconds from insert to settled. Jobs are mutable slotted records
inside (`record.py`) and become frozen values only where they are handed out, by a cheaper way than
a frozen dataclass's own (`model.swift`). Queued jobs stand in one line per queue and task
(`line.py`, `lane.py`): appended in order nearly always, so a claim takes the first and searches
nothing. A job that leaves early is not searched for either: its entry is dead, and is dropped when
its turn comes.

**Never the same blocked job twice.** A job whose limit is reached or whose rate is spent leaves
its line and is parked under the key that blocks it (`admission.py`); one comes back for each that
ends, or when the rate lets the next one start. A task that a worker does not know is a line that
it does not look at.

**A million schedules.** They are kept as the values they came as; the agenda (`agenda.py`) knows
their names by the instant of their next tick, so that a whole minute's worth is one bucket.

The layers, from the bottom: records and lines; the job table, through which every status change of
a job goes; claims, schedules, ledger, nodes, fence and retention, one file each; `store.py`, which
puts them together.
"""

from drumbeat.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
