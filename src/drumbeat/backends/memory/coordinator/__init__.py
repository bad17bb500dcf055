"""The memory coordinator: the executable specification of every coordinator.

It appoints among the nodes of one process. A term ends when its TTL has passed on the coordinator's
own clock, by `elapsed()`, which never jumps: the next caller finds the name vacant. Tokens come
from one counter that never falls, so a later term of any name has a higher one.

The lease renewer runs in a thread of its own with a loop of its own, so a lock guards everything
here, and each waiter is woken on its own loop. It also wakes up at the end of the term, since a
holder that died sends no hint.

Each coordinator has its own domain, so that the store's fence can tell its small tokens from the
high ones of an earlier coordinator.
"""

from drumbeat.backends.memory.coordinator.configuration import MemoryConfiguration
from drumbeat.backends.memory.coordinator.coordinator import MemoryCoordinator
from drumbeat.backends.memory.coordinator.leases import MemoryLeases
from drumbeat.backends.memory.coordinator.registry import MemoryRegistry

__all__ = ["MemoryConfiguration", "MemoryCoordinator", "MemoryLeases", "MemoryRegistry"]
