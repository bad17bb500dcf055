"""What a local fleet works with."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from drumbeat.config import Config
from drumbeat.engine.jobs import Jobs
from drumbeat.engine.leading.status import LeadershipStatus
from drumbeat.engine.nodes import Nodes
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.schedules import Schedules
from drumbeat.engine.submitting.submitter import Submitter
from drumbeat.engine.tasks.registry import TaskRegistry
from drumbeat.fleet.local.events.feed import Feed
from drumbeat.fleet.local.events.watcher import watched
from drumbeat.fleet.local.job_history import JobHistory
from drumbeat.fleet.local.overview.schedule_list import ScheduleList
from drumbeat.fleet.local.phase import Phase
from drumbeat.fleet.local.queue_names import QueueNames
from drumbeat.fleet.local.queue_rates import QueueRates
from drumbeat.fleet.local.reachability import Reachability
from drumbeat.model.ids import NodeId
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.queue import Queue
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store
from drumbeat.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The backends, the engine and the state that all operations of a local fleet share."""

    node: Callable[[], NodeId]
    """This process's identity, which is new at every start."""
    phase: Callable[[], Phase]
    """Whether this node runs."""
    store: Store
    coordinator: Coordinator
    queue: Queue
    jobs: Jobs
    schedules: Schedules
    nodes: Nodes
    leadership: LeadershipStatus
    submitter: Submitter
    registry: TaskRegistry
    declared: Collection[str] = ()
    """The names of the schedules that the code of this process declares."""
    config: Config
    runtime: Runtime
    bus: Bus
    metrics: Callable[[], Metrics | None]
    """The metrics of this node; None: it is not measured."""
    reachability: Reachability = field(init=False)
    rates: QueueRates = field(default_factory=QueueRates)
    history: JobHistory = field(default_factory=JobHistory)
    queue_names: QueueNames = field(init=False)
    schedule_list: ScheduleList = field(init=False)
    feed: Feed = field(init=False)

    def __post_init__(self) -> None:
        clock = self.runtime.clock
        reachability = Reachability(self.store, self.leadership, self.queue, clock)
        object.__setattr__(self, "reachability", reachability)
        object.__setattr__(self, "queue_names", QueueNames(self.store, clock))
        object.__setattr__(self, "schedule_list", ScheduleList(self))
        object.__setattr__(self, "feed", Feed(self.runtime, watched(self)))
