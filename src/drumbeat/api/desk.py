"""The desk: what stands behind the API, put together by wiring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from drumbeat.api.condition import Condition, Phase
from drumbeat.api.feed import Feed
from drumbeat.api.queue_names import QueueNames
from drumbeat.api.watching import watched
from drumbeat.config import Config
from drumbeat.engine.bus import Bus
from drumbeat.engine.explaining import Explaining
from drumbeat.engine.jobs import Jobs
from drumbeat.engine.operations import Operations
from drumbeat.engine.rates import Rates
from drumbeat.engine.registry import Registry
from drumbeat.engine.resigning import Resigning
from drumbeat.engine.schedules import Schedules
from drumbeat.engine.standing import Standing
from drumbeat.engine.submitter import Submitter
from drumbeat.model.ids import NodeId
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store
from drumbeat.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that a route may use."""

    node: Callable[[], NodeId]
    """This process's identity, which is new at every start."""
    store: Store
    coordinator: Coordinator
    jobs: Jobs
    schedules: Schedules
    standing: Standing
    submitter: Submitter
    registry: Registry
    config: Config
    runtime: Runtime
    bus: Bus
    phase: Callable[[], Phase]
    """Whether this node runs."""
    metrics: Callable[[], Metrics | None]
    """What this node tells those who watch it; None: it is not measured."""
    condition: Condition
    """Whether what stands behind this node answers."""
    feed: Feed = field(init=False)
    """What happens, for those who want to be told."""
    rates: Rates = field(default_factory=Rates)
    """How fast jobs end, by what was seen here."""
    queue_names: QueueNames = field(init=False)
    """The queues that callers may submit to."""

    def __post_init__(self) -> None:
        names = QueueNames(self.store, self.runtime.clock)
        object.__setattr__(self, "queue_names", names)
        object.__setattr__(self, "feed", Feed(self.runtime, watched(self)))

    @property
    def operations(self) -> Operations:
        """Changes of many jobs."""
        return Operations(self.store, self.submitter, self.runtime.clock)

    @property
    def explaining(self) -> Explaining:
        """Why schedules did or did not run."""
        return Explaining(self.store, self.schedules, self.standing)

    @property
    def resigning(self) -> Resigning:
        """How whoever leads is asked to let another lead."""
        return Resigning(self.standing, self.coordinator.configuration, self.runtime.clock)
