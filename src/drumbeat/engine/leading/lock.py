"""Locks: one holder at a time, extended while held, always released at the end.

A lock excludes others only while clocks run evenly and no process pauses for long. To protect what
must never happen twice, pass the token to the system that you write to, and let it refuse lower
ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from drumbeat.engine.plumbing.service import ServiceContext
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.errors import ConfigurationError, LockError, LockHeld, LockLost, Unavailable
from drumbeat.model.events import LockFailed
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import NodeId, label_of
from drumbeat.ports.coordinator import Coordinator, Leases
from drumbeat.rules.leadership import lease_trust
from drumbeat.rules.leadership.lease_trust import Deposed, Leading, LeaseTimings

T = TypeVar("T")

LONGEST_PAUSE = 1.0
"""Seconds between two tries for a lock that is held, when no hint comes."""


@dataclass(frozen=True, slots=True)
class LockRequest:
    """The lock to acquire, its owner and timings, and the seconds to wait for another holder."""

    name: str
    owner: NodeId
    timings: LeaseTimings
    wait: float = 0.0

    def __post_init__(self) -> None:
        name = cast("object", self.name)  # not every caller uses a type checker
        if not (isinstance(name, str) and name):
            raise ConfigurationError(f"a lock needs a name, a text that is not empty: {name!r}")


class Lock:
    """`async with app.lock("name") as lock:`. The body is cancelled if the lock is lost."""

    def __init__(
        self, request: LockRequest, coordinator: Coordinator, context: ServiceContext
    ) -> None:
        self.name = request.name
        self._election = f"lock/{request.name}"
        self._request = request
        self._timings = request.timings
        self._coordinator = coordinator
        self._leases: Leases = coordinator.leases
        self._runtime = context.runtime
        self._bus = context.bus
        self._state: Leading | None = None
        self._body: asyncio.Task[object] | None = None
        self._cancelled_before = 0
        self._extender: asyncio.Task[None] | None = None
        self._lost = False

    @property
    def token(self) -> int:
        """The fencing token, which rises with every holder of the name."""
        return self._held().lease.token

    @property
    def held(self) -> bool:
        """Whether the lock can still be trusted, by our own clock."""
        state, now = self._state, self._runtime.clock.elapsed()
        return state is not None and not self._lost and lease_trust.may_act(state, now)

    if not TYPE_CHECKING:  # a type checker refuses a plain `with` by itself

        def __enter__(self):
            raise TypeError(
                "a lock of the event loop needs `async with app.lock(...)`; "
                "without a loop write `with app.sync.lock(...)`"
            )

        def __exit__(self, *_): ...

    async def __aenter__(self) -> Self:
        try:
            await self._coordinator.open()
            self._state = await self._acquire()
        except Exception as error:
            self._bus.emit(LockFailed(self.name, error))
            raise
        self._body = asyncio.current_task()
        self._cancelled_before = self._body.cancelling() if self._body else 0
        self._extender = asyncio.create_task(self._extend(), name=f"drumbeat-lock-{self.name}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._extender is not None
        self._extender.cancel()
        await asyncio.wait([self._extender])
        state, self._state = self._held(), None
        if self._lost:
            self._raise_lost(state.lease, kind)
            return
        try:
            async with timeout_after(self._runtime.clock, self._timings.request_timeout):
                await self._leases.release(state.lease)
        except Exception as failure:  # noqa: BLE001 - it will run out by itself
            self._bus.emit(LockFailed(self.name, failure))

    def _raise_lost(self, lease: Lease, kind: type[BaseException] | None) -> None:
        lost = LockLost(self.name, lease.token)
        self._bus.emit(LockFailed(self.name, lost))
        cancelled = self._body.uncancel() if self._body else 0
        if kind is asyncio.CancelledError and cancelled > self._cancelled_before:
            return  # cancelled from outside as well: that goes first
        if kind is None or kind is asyncio.CancelledError:
            raise lost

    async def _acquire(self) -> Leading:
        state = await self._try()
        if state is None and self._request.wait > 0:
            with suppress(TimeoutError):
                async with timeout_after(self._runtime.clock, self._request.wait):
                    while state is None:
                        await self._vacancy()
                        state = await self._try()
        if state is not None:
            return state
        holder = await self._ask(self._leases.current(self._election))
        raise LockHeld(self.name, label_of(holder.holder) if holder else None)

    async def _try(self) -> Leading | None:
        sent_at = self._runtime.clock.elapsed()
        ttl = timedelta(seconds=self._timings.ttl)
        lease = await self._ask(self._leases.acquire(self._election, self._request.owner, ttl))
        return None if lease is None else lease_trust.won(lease, sent_at, self._timings)

    async def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        patience = self._timings.request_timeout
        try:
            async with timeout_after(self._runtime.clock, patience):
                return await question
        except TimeoutError:
            raise Unavailable(
                f"lock {self.name!r}: the coordinator did not answer within {patience:g} s"
            ) from None

    async def _vacancy(self) -> None:
        """Return at a hint that the lock may be free, or after a pause without one."""
        hints = self._leases.vacancies(self._election)
        pause = min(LONGEST_PAUSE, self._timings.ttl / 3)
        with suppress(TimeoutError):
            async with timeout_after(self._runtime.clock, pause):
                await anext(hints, None)

    async def _extend(self) -> None:
        while True:
            state = self._held()
            now = self._runtime.clock.elapsed()
            await self._runtime.clock.sleep(max(0.0, state.renew_at - now))
            after = await self._renew(state)
            if isinstance(after, Deposed):
                break
            self._state = after
        self._lost = True
        if self._body is not None:
            self._body.cancel()

    async def _renew(self, state: Leading) -> Leading | Deposed:
        sent_at = self._runtime.clock.elapsed()
        deposed = lease_trust.expired(state, sent_at)
        if deposed is not None:
            return deposed
        patience = lease_trust.request_timeout(state, sent_at, self._timings)
        try:
            async with timeout_after(self._runtime.clock, patience):
                lease = await self._leases.renew(state.lease)
        except Exception as error:  # noqa: BLE001 - no answer is not a "no"
            self._bus.emit(LockFailed(self.name, error))
            return lease_trust.unanswered(state, self._runtime.clock.elapsed(), self._timings)
        if lease is None:
            return lease_trust.refused(state)
        return lease_trust.renewed(state, lease, sent_at, self._timings)

    def _held(self) -> Leading:
        if self._state is None:
            raise LockError(f"lock {self.name!r} is not held; use it as `async with app.lock(...)`")
        return self._state
