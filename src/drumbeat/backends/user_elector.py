"""The user's own elector, in place of an election.

`is_leader()` is a bare yes or no, without a term, an owner or a number. This turns it into leases:
a term begins when the answer is yes, is renewed for as long as it stays yes, and is over at the
first no. An error is a no. To go on while the elector fails, wrap it in
`electors.tolerant`.

**It is asked again right before ticks are fired**, by `confirm`: a poll alone would let a leader
that lost just before a tick still fire it.

**The token is the store's epoch plus one.** It is read from the fence when the term begins, so
claiming it there is a compare-and-set: of two instances that read the same epoch only one can claim
it, and one that read it long ago is outranked. So all instances of all fleets share one domain, and
the store is the only memory that is needed.

**The elector is asked on the loop that the app runs on**, since that is where its clients live. A
handler that blocks this loop keeps the elector from being asked, and so ends the term in time.

Everything else, such as locks, the list of nodes and configuration, is the other coordinator's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from threading import Lock
from typing import Any, Protocol, TypeVar, runtime_checkable

from drumbeat.forks import renew_in_children
from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Coordinator, Leases
from drumbeat.ports.elector import Elector
from drumbeat.ports.store import Fence
from drumbeat.rules.leadership.elector_check import require_answer

T = TypeVar("T")

DOMAIN = "elector"
ASK_EVERY = 0.5
"""Seconds between two questions while nothing is due: a leader must hear of its end within one."""
SAID_NO = "the elector said no"


@runtime_checkable
class SteppingDown(Protocol):
    """An elector that can let others lead on request."""

    def step_down(self, reason: str) -> None:
        """Give the present term up, and let others go first."""
        ...


class AppLoop:
    """The event loop that the app runs on."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        renew_in_children(self.forget)

    def claim(self) -> bool:
        """Make the running loop the app's, if there is none yet; whether it is the app's now."""
        running = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = running
        return self._loop is running

    def forget(self) -> None:
        self._loop = None

    async def run(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the app's loop, from any loop."""
        loop = self._loop
        if loop is None or loop is asyncio.get_running_loop():
            return await call()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call(), loop))


class ElectedLeases:
    """The elector decides on the scheduler's terms, the other coordinator on all others."""

    def __init__(self, elector: Elector, fence: Fence, others: Leases, clock: Clock) -> None:
        self._elector = elector
        self._fence = fence
        self._others = others
        self._clock = clock
        self._term: Lease | None = None
        self._ended: tuple[Lease | None, str] = (None, "")
        self._ending = Lock()  # the app's loop and the elector's thread both end terms
        self.app_loop = AppLoop()

    async def acquire(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if name != SCHEDULER:
            return await self._others.acquire(name, candidate, ttl)
        if self._term is not None:
            return None
        self._term = await self.app_loop.run(lambda: self._appoint(name, candidate, ttl))
        return self._term

    async def renew(self, lease: Lease) -> Lease | None:
        if lease.domain != DOMAIN:
            return await self._others.renew(lease)
        return lease if await self.confirm(lease) else None

    async def leads(self) -> bool:
        """Whether the elector says now that this instance leads. An error counts as a no."""
        try:
            return await self.app_loop.run(self._is_leader)
        except Exception:  # noqa: BLE001 - the next try for a term reports it
            return False

    async def confirm(self, lease: Lease) -> bool:
        """Whether the elector still says so during this term. A no or an error ends the term."""
        if lease != self._term:
            return False
        try:
            leads = await self.app_loop.run(self._is_leader)
        except Exception as error:  # noqa: BLE001 - whatever a user's elector raises is a no
            self._end(lease, f"the elector failed: {error!r}")
            return False
        if not leads:
            self._end(lease, SAID_NO)
        return leads

    def refusal(self, lease: Lease) -> str:
        """Why this term was ended, for the log."""
        ended, reason = self._ended
        return reason if ended == lease else SAID_NO

    async def release(self, lease: Lease) -> bool:
        """End the term, and ask the elector to let others lead if it can."""
        if lease.domain != DOMAIN:
            return await self._others.release(lease)
        ended = self._end(lease, "released")
        if ended:
            await self.app_loop.run(self._step_down)
        return ended

    async def evict(self, lease: Lease) -> bool:
        """End a lock; the elector alone decides who leads."""
        return lease.domain != DOMAIN and await self._others.evict(lease)

    async def current(self, name: str) -> Lease | None:
        """Our own term; else the last one that an elector's instance claimed at the store's fence.

        For display: only that instance knows whether it still leads.
        """
        if name != SCHEDULER:
            return await self._others.current(name)
        if self._term is not None:
            return self._term
        row = await self.app_loop.run(lambda: self._fence.read(name))
        if row is None or row.domain != DOMAIN:
            return None
        return Lease(name, row.holder, DOMAIN, row.token, timedelta(0))

    def vacancies(self, name: str) -> AsyncIterator[None]:
        """For the scheduler's term, a hint whenever it is time to ask the elector again."""
        return self._turns() if name == SCHEDULER else self._others.vacancies(name)

    async def _turns(self) -> AsyncIterator[None]:
        while True:
            yield None
            await self._clock.sleep(ASK_EVERY)

    async def _appoint(self, name: str, candidate: NodeId, ttl: timedelta) -> Lease | None:
        if not await self._is_leader():
            return None
        row = await self._fence.read(name)
        return Lease(name, candidate, DOMAIN, (row.epoch if row else 0) + 1, ttl)

    async def _is_leader(self) -> bool:
        return require_answer(await self._elector.is_leader(), self._elector)

    async def _step_down(self) -> None:
        if isinstance(self._elector, SteppingDown):
            self._elector.step_down("the app stopped leading")

    def _end(self, lease: Lease, reason: str) -> bool:
        with self._ending:
            ours = lease == self._term
            if ours:
                self._term, self._ended = None, (lease, reason)
        return ours


class ElectedCoordinator:
    """A coordinator whose scheduler is chosen by the user's own elector."""

    def __init__(self, elector: Elector, others: Coordinator, fence: Fence, clock: Clock) -> None:
        self.leases = ElectedLeases(elector, fence, others.leases, clock)
        self.registry = others.registry
        self.configuration = others.configuration
        self._others = others

    async def open(self) -> None:
        """Open the other coordinator. Electors are asked on the loop that calls this first."""
        if self.leases.app_loop.claim():
            await self._others.open()

    async def close(self) -> None:
        """Forget the loop. The owner of the other coordinator closes it."""
        self.leases.app_loop.forget()
