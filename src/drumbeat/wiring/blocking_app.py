"""BlockingApp: the operations of an app for code without an event loop, as `app.sync`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from drumbeat.blocking.methods import BlockingResource, waited, walked
from drumbeat.engine.jobs import Jobs
from drumbeat.engine.leading.lock import Lock
from drumbeat.engine.operations import Operations
from drumbeat.engine.plumbing.sync_bridge import SyncBridge
from drumbeat.engine.schedules import Schedules
from drumbeat.model.errors import LockLost
from drumbeat.model.fleet.node import ListedNode
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Job, JobSpec
from drumbeat.model.time.duration import Duration
from drumbeat.ports.coordinator import Configuration
from drumbeat.wiring.app_state import AppState


class BlockingJobs(BlockingResource[Jobs]):
    """Jobs at run time. Each operation takes a job or its id."""

    submit = waited(Jobs.submit)
    submit_many = waited(Jobs.submit_many)
    get = waited(Jobs.get)
    list = waited(Jobs.list)
    attempts = waited(Jobs.attempts)
    counts = waited(Jobs.counts)
    cancel = waited(Jobs.cancel)
    retry = waited(Jobs.retry)
    retry_many = waited(Jobs.retry_many)
    cancel_many = waited(Jobs.cancel_many)
    wait = waited(Jobs.wait)
    result = waited(Jobs.result)
    wait_until_idle = waited(Jobs.wait_until_idle)


class BlockingSchedules(BlockingResource[Schedules]):
    """Schedules at run time. Every edit is one guarded write."""

    def at_version(self, version: int) -> BlockingSchedules:
        """The same, with changes that are made only to a schedule at this version."""
        return BlockingSchedules(self._resource.at_version(version), self._thread)

    put = waited(Schedules.put)
    write = waited(Schedules.write)
    create = waited(Schedules.create)
    amend = waited(Schedules.amend)
    get = waited(Schedules.get)
    list = waited(Schedules.list)
    tagged = waited(Schedules.tagged)
    pause = waited(Schedules.pause)
    resume = waited(Schedules.resume)
    skip = waited(Schedules.skip)
    unskip = waited(Schedules.unskip)
    hand_back = waited(Schedules.hand_back)
    remove = waited(Schedules.remove)
    trigger = waited(Schedules.trigger)
    trigger_with = waited(Schedules.trigger_with)
    backfill = waited(Schedules.backfill)
    preview = waited(Schedules.preview)
    ticks = waited(Schedules.ticks)


class BlockingOperations(BlockingResource[Operations]):
    """Changes of many jobs, which the leading node does in the background."""

    retry = waited(Operations.retry)
    cancel_jobs = waited(Operations.cancel_jobs)
    get = waited(Operations.get)
    list = waited(Operations.list)
    cancel = waited(Operations.cancel)
    wait = waited(Operations.wait)


class BlockingConfiguration(BlockingResource[Configuration]):
    """Small values that the fleet shares."""

    get = waited(Configuration.get)
    put = waited(Configuration.put)
    compare_and_set = waited(Configuration.compare_and_set)
    watch = walked(Configuration.watch)


class BlockingLock:
    """`with app.sync.lock("name") as lock:`.

    A blocked thread cannot be interrupted: if the lock is lost, `held` turns false, and `LockLost`
    is raised at the end of the body.
    """

    def __init__(self, lock: Lock, bridge: SyncBridge) -> None:
        self._lock = lock
        self._bridge = bridge
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop on which the lock is extended while it is held."""

    @property
    def name(self) -> str:
        return self._lock.name

    @property
    def token(self) -> int:
        """The fencing token, which rises with every holder of the name."""
        return self._lock.token

    @property
    def held(self) -> bool:
        """Whether the lock can still be trusted, by our own clock."""
        return self._lock.held

    def __enter__(self) -> Self:
        self._loop = self._bridge.loop()
        self._bridge.call(self._lock.__aenter__, self._loop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._loop is not None, "it was entered"
        if not self._loop.is_running():
            raise LockLost(self.name, self.token)  # the app was stopped meanwhile
        self._bridge.call(lambda: self._lock.__aexit__(kind, error, trace), self._loop)


class BlockingApp:
    """What an app offers to `await`, for threads without an event loop; any number may use it."""

    def __init__(self, state: AppState) -> None:
        self._state = state

    @property
    def jobs(self) -> BlockingJobs:
        """Jobs at run time: submit, get, list, cancel, retry, wait."""
        return BlockingJobs(self._state.jobs, self._state.sync_bridge)

    @property
    def schedules(self) -> BlockingSchedules:
        """Schedules at run time: put, get, list, pause, trigger, skip, backfill, preview."""
        return BlockingSchedules(self._state.schedules, self._state.sync_bridge)

    @property
    def operations(self) -> BlockingOperations:
        """Changes of many jobs, which the leading node does in the background."""
        return BlockingOperations(self._state.operations, self._state.sync_bridge)

    @property
    def config(self) -> BlockingConfiguration:
        """Small values that the fleet shares: get, put, compare-and-set, watch."""
        configuration = self._state.backends.coordinator.configuration
        return BlockingConfiguration(configuration, self._state.sync_bridge)

    def lock(self, name: str, *, ttl: Duration = 30.0, wait: Duration = 0.0) -> BlockingLock:
        """A lock of the whole fleet: `with app.sync.lock("name") as lock:`."""
        return BlockingLock(self._state.lock(name, ttl, wait), self._state.sync_bridge)

    def submit(self, spec: JobSpec) -> Job:
        """Submit a job as given, also for a task that only other nodes know."""
        return self._state.sync_bridge.call(lambda: self._state.submitter.submit(spec))

    def nodes(self) -> Sequence[ListedNode]:
        """The nodes of the fleet, as the store and the coordinator list them."""
        return self._state.sync_bridge.call(self._state.nodes.list)

    def drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop; return those that exist."""
        return self._state.sync_bridge.call(lambda: self._state.nodes.drain(nodes))

    def wait_until_idle(self, timeout: Duration | None = None) -> None:
        """Return when no job is pending, queued or running, anywhere in the fleet."""
        self.jobs.wait_until_idle(timeout)
