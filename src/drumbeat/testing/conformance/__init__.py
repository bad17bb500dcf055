"""One conformance suite per port, which every backend runs unchanged.

Each class holds the cases of one role, each case one sentence of its contract. A backend's test
module is a few lines: it subclasses the suites and provides the fixtures that the cases ask for.

```python
class TestMyStore(StoreConformance):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]: ...          # open, empty, closed afterwards

    @pytest.fixture
    def traits(self, store: Store) -> StoreTraits: ...          # how this backend differs
```

Time is an argument: the cases pass `at` to a store, so a real server's own clock does not matter.
Leases and deliveries have no such argument, so the traits say how to let time pass: a backend with
a fake clock advances it, the test module of a real server waits.

Differences between backends are declared in the traits and never depend on a backend's name. Cases
are plain coroutines of their fixtures, so they can also be called directly: tests do this to show
that deliberately broken backends fail the cases that should catch them.
"""

from drumbeat.testing.conformance.coordinator.suite import CoordinatorConformance
from drumbeat.testing.conformance.queue import QueueConformance, TicketQueueConformance
from drumbeat.testing.conformance.store.suite import StoreConformance
from drumbeat.testing.conformance.store.witnesses import WitnessConformance
from drumbeat.testing.conformance.traits import CoordinatorTraits, QueueTraits, StoreTraits

__all__ = [
    "CoordinatorConformance",
    "CoordinatorTraits",
    "QueueConformance",
    "QueueTraits",
    "StoreConformance",
    "StoreTraits",
    "TicketQueueConformance",
    "WitnessConformance",
]
