"""The memory coordinator: the executable specification of every coordinator.

It appoints among the nodes of one process. A term lives until its TTL has run out on the
coordinator's own clock, by `elapsed()`, which never jumps; nobody has to notice for that to be so:
an expired term is simply not there when the next caller looks. Tokens come from one counter that
never falls, so a later term of any name has a higher one.

The lease renewer runs in a thread of its own with a loop of its own, so everything here is guarded
by a lock, and each waiter is woken on its own loop (`waiters.py`). A waiter that
nobody rings for, since the holder died, sets itself an alarm for the end of the term.

The domain names this coordinator among all that ever were: a new one gets a new domain, so that
the store's fence can tell its small tokens from the high ones of one that came before.
"""

from drumbeat.backends.memory.coordinator.configuration import MemoryConfiguration
from drumbeat.backends.memory.coordinator.coordinator import MemoryCoordinator
from drumbeat.backends.memory.coordinator.leases import MemoryLeases
from drumbeat.backends.memory.coordinator.registry import MemoryRegistry

__all__ = ["MemoryConfiguration", "MemoryCoordinator", "MemoryLeases", "MemoryRegistry"]
