"""The leader election: one instance of many leads, on any coordinator, without an app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar
from weakref import WeakValueDictionary

from drumbeat.backends import Borrowed, coordinator_at
from drumbeat.config import Config
from drumbeat.coordinators.memory import MemoryCoordinator
from drumbeat.engine.bus import Bus, Listener
from drumbeat.engine.elector import OWN_WILL, RESIGNED, Candidacy
from drumbeat.engine.elector import Elector as LeaseKeeper
from drumbeat.engine.patience import within
from drumbeat.engine.runtime import SystemRuntime
from drumbeat.model.duration import parse_duration
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.model.ids import node_id
from drumbeat.model.lease import Lease
from drumbeat.model.outage import Outage
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.runtime import Runtime
from drumbeat.rules.leading import Leading, LeaseTimings
from drumbeat.telemetry.logs import log_events

Gained = TypeVar("Gained", bound=Listener[LeadershipGained])
Lost = TypeVar("Lost", bound=Listener[LeadershipLost])

RETRY_EVERY = 2.0
MEMORY = "memory://"

_IN_THIS_PROCESS: WeakValueDictionary[str, MemoryCoordinator] = WeakValueDictionary()
"""What the elections of one process and one clock share, for as long as there are any."""


class LeaderElection:
    """`LeaderElection("instance-1", "sqlite:///leader.db")`: stands, keeps its lease, resigns.

    The coordinator is an address or one that exists already. With `memory://` the elections of one
    process are among themselves. The lease is kept in a thread of its own, so that code which
    blocks the event loop cannot lose it.
    """

    def __init__(
        self,
        instance_id: str,
        coordinator: str | Coordinator = MEMORY,
        *,
        name: str = "leader",
        ttl: float | str = 10.0,
        runtime: Runtime | None = None,
    ) -> None:
        if not instance_id or not name:
            raise ConfigurationError("an election needs a name, and an instance_id for its people")
        self.instance_id = instance_id
        self.name = name
        self._timings = LeaseTimings.for_ttl(parse_duration(ttl).total_seconds())
        self._runtime = runtime or SystemRuntime()
        self._connect = _connection(coordinator, self._runtime)
        self._bus = Bus(self._runtime.clock)
        self._keeper: LeaseKeeper | None = None
        self._telling: asyncio.Task[None] | None = None
        self._led: Lease | None = None
        self._news = asyncio.Event()
        log_events(self._bus.on, instance_id)

    @property
    def token(self) -> int | None:
        """The fencing token of the present term, which rises with every term; None: not leading.

        Pass it to the system that you write to, and let that refuse lower ones.
        """
        lease = self._lease()
        return None if lease is None else lease.token

    @property
    def outage(self) -> Outage | None:
        """What the coordinator fails with, and since when; None: it answers, or nobody asks."""
        return None if self._keeper is None else self._keeper.outage

    async def elect(self) -> bool:
        """Stand, from now until `resign`; return whether this instance leads after the first try.

        A coordinator that does not answer counts as a no, is told in the log, and is tried again.
        """
        keeper = self._keeper or self._stand()
        tries = keeper.tries
        while self._keeper is keeper and self._lease() is None and keeper.tries == tries:
            await self._news.wait()
        return self._lease() is not None

    async def is_leader(self) -> bool:
        """Whether this instance leads and may act on it now, by its own clock."""
        return self._lease() is not None

    async def wait(self, timeout: float | str | None = None) -> bool:
        """Return True once this instance leads, or False after so long."""
        if timeout is None:
            await self._until_leading()
            return True
        try:
            async with within(self._runtime.clock, parse_duration(timeout).total_seconds()):
                await self._until_leading()
        except TimeoutError:
            return False
        return True

    async def resign(self, reason: str = RESIGNED) -> None:
        """Let another lead, and stand no more until the next `elect`."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        try:
            await keeper.stop(reason)
        finally:
            self._note(None, reason, graceful=True)
            telling, self._telling = self._telling, None
            if telling is not None:
                telling.cancel()
        await self._bus.flush()

    def step_down(self, reason: str = RESIGNED) -> None:
        """Give up the present term, let others go first, and go on standing. From any thread."""
        keeper, lease = self._keeper, self._lease()
        if keeper is not None and lease is not None:
            keeper.resign(lease, reason)

    def on_gained(self, listener: Gained) -> Gained:
        """Call the listener whenever this instance begins to lead. Usable as a decorator."""
        self._bus.on(LeadershipGained, listener)
        return listener

    def on_lost(self, listener: Lost) -> Lost:
        """Call the listener whenever this instance no longer leads. Usable as a decorator."""
        self._bus.on(LeadershipLost, listener)
        return listener

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

    def _stand(self) -> LeaseKeeper:
        node = node_id(self.instance_id, self._runtime.random.getrandbits(64))
        retry_every = min(RETRY_EVERY, self._timings.ttl / 3)
        candidacy = Candidacy(f"election/{self.name}", node, self._timings, retry_every)
        keeper = LeaseKeeper(candidacy, self._connect, self._runtime, self._bus)
        keeper.changed = lambda: self._follow(keeper)
        self._keeper = keeper
        self._telling = asyncio.create_task(self._bus.run(), name=f"drumbeat-election-{self.name}")
        keeper.start()
        return keeper

    def _lease(self) -> Lease | None:
        """The lease of the present term, if it is still to be trusted."""
        keeper = self._keeper
        if keeper is None or not isinstance(state := keeper.state, Leading):
            return None
        return state.lease if keeper.may_act(state.lease) else None

    def _follow(self, keeper: LeaseKeeper) -> None:
        if keeper is self._keeper:
            state = keeper.state
            reason = keeper.lost_because(self._led) if self._led else ""
            lease = state.lease if isinstance(state, Leading) else None
            self._note(lease, reason, graceful=reason in OWN_WILL)

    def _note(self, lease: Lease | None, reason: str, *, graceful: bool) -> None:
        """Tell what has changed since it was told last, and wake whoever waits for news."""
        before, self._led = self._led, lease
        if before is not None and before != lease:
            self._bus.emit(LeadershipLost(self.name, before.holder, before.token, reason, graceful))
        if lease is not None and before != lease:
            self._bus.emit(LeadershipGained(self.name, lease.holder, lease.token))
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _until_leading(self) -> None:
        while self._lease() is None:
            await self._news.wait()


def _connection(coordinator: str | Coordinator, runtime: Runtime) -> Callable[[], Coordinator]:
    if not isinstance(coordinator, str):
        return lambda: Borrowed(coordinator)
    if coordinator != MEMORY:
        return coordinator_at(coordinator, Config(), runtime)
    clock = runtime.clock
    # All real clocks are one; each fake clock has its own. The coordinator keeps it, and so its id.
    key = MEMORY if isinstance(runtime, SystemRuntime) else f"{MEMORY}{id(clock)}"
    shared = _IN_THIS_PROCESS.get(key)
    if shared is None:
        domain = f"memory-{runtime.random.getrandbits(64):016x}"
        shared = _IN_THIS_PROCESS[key] = MemoryCoordinator(clock, domain)
    return lambda: Borrowed(shared)
