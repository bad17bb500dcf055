"""Conformance: one suite per port, which every backend runs unchanged.

Each class holds the cases of one role, each case one sentence of its contract. A backend's test
module is a few lines: it subclasses the suites and provides the fixtures that the cases ask for.

```python
class TestMyStore(StoreConformance):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]: ...          # open, empty, closed afterwards

    @pytest.fixture
    def traits(self, store: Store) -> StoreTraits: ...          # how this backend differs
```

Time is an argument: stores are driven by `at`, so a real server's own clock does not matter. For
leases and deliveries, which have no such argument, the traits say how to let time pass: a backend
on a hand-driven clock turns it, a real server's module really waits.

Differences between backends are declared in the traits, never asked by name. Cases are plain
coroutines of their fixtures, so they can also be called directly: that is how deliberately broken
backends are shown to fail the very cases that are meant to catch them.
"""

from drumbeat.testing.conformance.coordinator.suite import CoordinatorConformance
from drumbeat.testing.conformance.queue import QueueConformance, TicketQueueConformance
from drumbeat.testing.conformance.store.suite import StoreConformance
from drumbeat.testing.conformance.traits import CoordinatorTraits, QueueTraits, StoreTraits

__all__ = [
    "CoordinatorConformance",
    "CoordinatorTraits",
    "QueueConformance",
    "QueueTraits",
    "StoreConformance",
    "StoreTraits",
    "TicketQueueConformance",
]
