"""The leader election: one instance of many leads, on any coordinator, without an app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar
from weakref import WeakValueDictionary

from drumbeat.backend_factory import Borrowed, coordinator_at
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.config import Config, masked
from drumbeat.engine.leading.candidacy import RESIGNED, VOLUNTARY, Candidacy
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.plumbing.bus import Bus, EventListener
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.fleet.outage import Outage
from drumbeat.model.ids import node_id
from drumbeat.model.time.duration import parse_duration
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.runtime import Runtime
from drumbeat.rules.leadership.lease_trust import Leading, LeaseTimings
from drumbeat.telemetry.logs import log_events

Gained = TypeVar("Gained", bound=EventListener[LeadershipGained])
Lost = TypeVar("Lost", bound=EventListener[LeadershipLost])

RETRY_EVERY = 2.0
MEMORY = "memory://"

_IN_THIS_PROCESS: WeakValueDictionary[str, MemoryCoordinator] = WeakValueDictionary()
"""The coordinators that the elections of one process and one clock share."""


class LeaderElection:
    """`LeaderElection("instance-1", "sqlite:///leader.db")`: campaigns, keeps its lease, resigns.

    The coordinator is an address or an existing one. With `memory://` the elections of one process
    share a coordinator. `renew_interval` is by default three tenths of the TTL, and at most a third
    of it, so that one lost request does not end a term. The lease is kept in a thread of its own,
    so that code which blocks the event loop cannot lose it.
    """

    def __init__(
        self,
        instance_id: str,
        coordinator: str | Coordinator = MEMORY,
        *,
        name: str = "leader",
        ttl: float | str = 10.0,
        renew_interval: float | str | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        if not instance_id or not name:
            raise ConfigurationError("an election needs a name and an instance_id")
        self.instance_id = instance_id
        self.name = name
        self._timings = LeaseTimings.for_ttl(
            parse_duration(ttl).total_seconds(),
            None if renew_interval is None else parse_duration(renew_interval).total_seconds(),
        )
        self._runtime = runtime or SystemRuntime()
        self._connect = _connection(coordinator, self._runtime)
        self._bus = Bus(self._runtime.clock)
        self._elector: LeaderElector | None = None
        self._bus_task: asyncio.Task[None] | None = None
        self._led: Lease | None = None
        self._changed = asyncio.Event()
        self._logged = log_events(self._bus.on, instance_id, masked)

    @property
    def token(self) -> int | None:
        """The fencing token of the present term, which rises with every term; None: not leading.

        Pass it to the system that you write to, and let that refuse lower ones.
        """
        lease = self._lease()
        return None if lease is None else lease.token

    @property
    def outage(self) -> Outage | None:
        """What the coordinator fails with, and since when; None: it answers, or is not asked."""
        return None if self._elector is None else self._elector.outage

    async def elect(self) -> bool:
        """Campaign from now until `resign`; return whether this instance leads after the first try.

        A coordinator that does not answer counts as a no, is logged, and is tried again.
        """
        elector = self._elector or self._stand()
        tries = elector.tries
        while self._elector is elector and self._lease() is None and elector.tries == tries:
            await self._changed.wait()
        return self._lease() is not None

    async def is_leader(self) -> bool:
        """Whether this instance leads and may act on it now, by its own clock."""
        return self._lease() is not None

    async def wait(self, timeout: float | str | None = None) -> bool:
        """Return True once this instance leads, or False after the time-out."""
        if timeout is None:
            await self._until_leading()
            return True
        try:
            async with timeout_after(self._runtime.clock, parse_duration(timeout).total_seconds()):
                await self._until_leading()
        except TimeoutError:
            return False
        return True

    async def resign(self, reason: str = RESIGNED) -> None:
        """Let another lead, and campaign no more until the next `elect`."""
        elector, self._elector = self._elector, None
        if elector is None:
            return
        try:
            await elector.stop(reason)
        finally:
            self._note(None, reason, graceful=True)
            task, self._bus_task = self._bus_task, None
            if task is not None:
                task.cancel()
        await self._bus.flush()

    def step_down(self, reason: str = RESIGNED) -> None:
        """Give up the present term, let others go first, and keep campaigning. From any thread."""
        elector, lease = self._elector, self._lease()
        if elector is not None and lease is not None:
            elector.resign(lease, reason)

    def on_gained(self, listener: Gained) -> Gained:
        """Call the listener whenever this instance begins to lead. Usable as a decorator."""
        self._bus.on(LeadershipGained, listener)
        return listener

    def on_lost(self, listener: Lost) -> Lost:
        """Call the listener whenever this instance no longer leads. Usable as a decorator."""
        self._bus.on(LeadershipLost, listener)
        return listener

    def leave_logging(self) -> None:
        """Write no lines when the leadership changes, since an app or `logged` does."""
        for kind in (LeadershipGained, LeadershipLost):
            self._logged[kind]()

    async def __aenter__(self) -> Self:
        await self.elect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.resign()

    def _stand(self) -> LeaderElector:
        node = node_id(self.instance_id, self._runtime.random.getrandbits(64))
        retry_every = min(RETRY_EVERY, self._timings.ttl / 3)
        candidacy = Candidacy(f"election/{self.name}", node, self._timings, retry_every)
        elector = LeaderElector(candidacy, self._connect, self._runtime, self._bus)
        elector.on_change(lambda: self._follow(elector))
        self._elector = elector
        self._bus_task = asyncio.create_task(self._bus.run(), name=f"drumbeat-election-{self.name}")
        elector.start()
        return elector

    def _lease(self) -> Lease | None:
        """The lease of the present term, if it can still be trusted."""
        elector = self._elector
        if elector is None or not isinstance(state := elector.state, Leading):
            return None
        return state.lease if elector.may_act(state.lease) else None

    def _follow(self, elector: LeaderElector) -> None:
        if elector is self._elector:
            state = elector.state
            reason = elector.lost_because(self._led) if self._led else ""
            lease = state.lease if isinstance(state, Leading) else None
            self._note(lease, reason, graceful=reason in VOLUNTARY)

    def _note(self, lease: Lease | None, reason: str, *, graceful: bool) -> None:
        """Emit what has changed since the last call, and wake everyone who waits for a change."""
        before, self._led = self._led, lease
        if before is not None and before != lease:
            self._bus.emit(LeadershipLost(self.name, before.holder, before.token, reason, graceful))
        if lease is not None and before != lease:
            self._bus.emit(LeadershipGained(self.name, lease.holder, lease.token))
        news, self._changed = self._changed, asyncio.Event()
        news.set()

    async def _until_leading(self) -> None:
        while self._lease() is None:
            await self._changed.wait()


def _connection(coordinator: str | Coordinator, runtime: Runtime) -> Callable[[], Coordinator]:
    if not isinstance(coordinator, str):
        return lambda: Borrowed(coordinator)
    if coordinator != MEMORY:
        return coordinator_at(coordinator, Config(), runtime)
    clock = runtime.clock
    # All real clocks share one coordinator; each fake clock has its own, which keeps its id alive.
    key = MEMORY if isinstance(runtime, SystemRuntime) else f"{MEMORY}{id(clock)}"
    shared = _IN_THIS_PROCESS.get(key)
    if shared is None:
        domain = f"memory-{runtime.random.getrandbits(64):016x}"
        shared = _IN_THIS_PROCESS[key] = MemoryCoordinator(clock, domain)
    return lambda: Borrowed(shared)
