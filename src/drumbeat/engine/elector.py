"""The elector: campaigns for a lease and keeps it.

It runs isolated, with a connection of its own, so that user code which blocks the event loop
for a while cannot starve the renewal; a loop that is blocked for longer than a TTL leads nobody,
and the term is given up. It never decides anything by itself: `rules.leading` is the protocol,
and this is the loop that asks the coordinator and hands the answers to it.

What it publishes is one immutable state, replaced in a single assignment, so that any thread can
ask `may_act()` at any time. The answer is judged by our own clock, counted from before we asked:
a pause of this process, a slow reply or a dead coordinator all make it false in time, without
anybody having to notice.

Being appointed is not yet leading. The store accepts a leader's writes only after it has turned
the lease into an epoch (`engine.leadership`), and only at the highest epoch that it has seen.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

from drumbeat.engine.bus import Bus
from drumbeat.engine.home import Home
from drumbeat.engine.patience import within
from drumbeat.engine.reach import Reach
from drumbeat.engine.signal import Signal
from drumbeat.model.events import CoordinatorFailed, Event
from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Lease
from drumbeat.model.outage import Outage
from drumbeat.model.part import Asked
from drumbeat.ports.coordinator import Coordinator, Leases
from drumbeat.ports.elector import Confirming
from drumbeat.ports.runtime import Isolated, Runtime
from drumbeat.rules import leading
from drumbeat.rules.leading import Deposed, Following, Leading, LeaseTimings

T = TypeVar("T")

STOPPING = "stopping"
RESIGNED = "resigned"
WITHDRAWN = "withdrawn"
BLOCKED = "the event loop of this node is blocked"
SILENT = "the elector did not answer in time"
SHORT_REST = 0.1
"""Seconds of rest after a user's elector ended a term: it chooses who is next, not who asks first.
"""
OWN_WILL = frozenset({STOPPING, RESIGNED, WITHDRAWN})
"""The reasons of a leader that could have gone on."""


@dataclass(frozen=True, slots=True)
class Candidacy:
    """Who stands in which election, and by which timings."""

    election: str
    node: NodeId
    timings: LeaseTimings
    retry_every: float
    """Seconds between two tries of a follower, when no hint of a vacancy comes."""
    fenced: bool = False
    """Whether a store refuses what an earlier leader still writes. Then a node whose event loop is
    blocked for longer than a TTL gives its term up; else whatever blocks it may rely on the term.
    """
    confirming: Confirming | None = None
    """Asks the user's own elector right before ticks are fired; None: a lease is enough."""
    store_appoints: bool = False
    """Whether the store is the coordinator too, so that both fail together."""

    @property
    def asked(self) -> Asked:
        """Who is asked for the leadership."""
        if self.confirming is not None:
            return "elector"
        return "store" if self.store_appoints else "coordinator"


class Elector:
    """Stands in one election for as long as it runs."""

    def __init__(
        self,
        candidacy: Candidacy,
        connect: Callable[[], Coordinator],
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        self.candidacy = candidacy
        self._connect = connect
        self._runtime = runtime
        self._bus = bus
        self._clock = runtime.clock
        self._wake = Signal(self._clock)
        self._reach = Reach(candidacy.election, self._clock, candidacy.asked)
        self._home = Home(self._clock)
        self._isolated: Isolated | None = None
        self._state: Following | Leading = Following(self._clock.elapsed())
        self._unwanted = (0, "")
        self._refused = (0, "")
        self._withdrawn = False
        self._stopping = False
        self._stopped_because = STOPPING
        self._lost = (0, "")
        self.tries = 0
        """How often it has asked for a term in vain, so far."""
        self.changed: Callable[[], None] = lambda: None
        """Called on the home loop after each change of the state, and after each try in vain."""

    @property
    def state(self) -> Following | Leading:
        """Whether this node was appointed, and until when it may trust in that."""
        return self._state

    @property
    def outage(self) -> Outage | None:
        """What the coordinator fails with, and since when; None: it answers."""
        return self._reach.outage

    def may_act(self, lease: Lease) -> bool:
        """Whether this very term is still to be trusted, by our own clock."""
        state = self._state
        return (
            isinstance(state, Leading)
            and state.lease.token == lease.token
            and leading.may_act(state, self._clock.elapsed())
        )

    async def confirm(self, lease: Lease) -> bool:
        """Whether this very term may act, also by the word of a user's elector. On the home loop.

        Ask it right before ticks are fired. A no, an error or no answer in time ends the term.
        """
        state, confirming = self._state, self.candidacy.confirming
        if confirming is None or not isinstance(state, Leading) or not self.may_act(lease):
            return self.may_act(lease)
        patience = leading.patience(state, self._clock.elapsed(), self.candidacy.timings)
        try:
            async with within(self._clock, patience):
                if await confirming.confirm(lease):
                    return self.may_act(lease)
            reason = confirming.refusal(lease)
        except TimeoutError:
            reason = SILENT
        self._refused = (lease.token, reason)
        self._hasten()
        return False

    async def would_lead(self) -> bool:
        """Whether a user's elector says yes now, although no term has begun. On the home loop.

        If so, a term is asked for at once.
        """
        confirming = self.candidacy.confirming
        if confirming is None:
            return False
        try:
            async with within(self._clock, self.candidacy.timings.request_timeout):
                leads = await confirming.leads()
        except TimeoutError:
            return False
        if leads:
            self._hasten()
        return leads

    def lost_because(self, lease: Lease) -> str:
        """Why this term ended, as far as it is known."""
        token, reason = self._lost
        return reason if token == lease.token else "its lease ran out"

    def start(self) -> None:
        """Begin to campaign."""
        self._isolated = self._runtime.spawn_isolated(
            f"drumbeat-elector-{self.candidacy.election}", self._run
        )

    def resign(self, lease: Lease, reason: str) -> None:
        """Give this term up, and let others go first in the next."""
        self._unwanted = (lease.token, reason)
        self._hasten()

    def withdraw(self) -> None:
        """Give up any term, and stand in no further election."""
        self._withdrawn = True
        state = self._state
        if isinstance(state, Leading):
            self.resign(state.lease, WITHDRAWN)

    async def stop(self, reason: str = STOPPING) -> None:
        """Give the lease up, if there is one, and stop."""
        if self._isolated is None:
            return
        self._stopped_because = reason
        self._stopping = True
        self._isolated.call_inside(self._wake.set)
        try:
            async with within(self._clock, 2 * self.candidacy.timings.request_timeout + 1):
                await self._isolated.ended()
        except TimeoutError:  # the coordinator does not answer: the lease will run out by itself
            self._isolated.cancel()
            await self._isolated.ended()
        self._isolated = None

    def _hasten(self) -> None:
        if self._isolated is not None:
            self._isolated.call_inside(self._wake.set)

    async def _run(self, isolated: Isolated) -> None:
        coordinator = self._connect()
        self._reach.tell = lambda event: self._emit(event, isolated)
        try:
            while not self._stopping:
                try:
                    await self._stand(coordinator, isolated)
                except Exception as error:  # noqa: BLE001 - an elector never gives up standing
                    self._reach.failed(error)
                    self._try_in_vain(isolated)
                    await self._wake.wait(self._pause())
        finally:
            with contextlib.suppress(Exception):
                await coordinator.close()

    async def _stand(self, coordinator: Coordinator, isolated: Isolated) -> None:
        await coordinator.open()
        async with asyncio.TaskGroup() as group:
            hints = group.create_task(self._listen(coordinator.leases, isolated))
            try:
                while not self._stopping:
                    match self._state:
                        case Following():
                            await self._campaign(coordinator.leases, isolated)
                        case Leading() as state:
                            await self._reign(state, coordinator.leases, isolated)
                if isinstance(self._state, Leading):
                    await self._step_down(
                        self._state, coordinator.leases, isolated, self._stopped_because
                    )
            finally:
                hints.cancel()

    async def _campaign(self, leases: Leases, isolated: Isolated) -> None:
        if self._withdrawn:
            await self._wake.wait()
            return
        timings = self.candidacy.timings
        if self._blocked_for(timings.renew_every, isolated):  # it could not lead
            await self._wake.wait(self._pause())
            return
        sent_at = self._clock.elapsed()
        lease = await self._ask(
            leases.acquire(
                self.candidacy.election, self.candidacy.node, timedelta(seconds=timings.ttl)
            ),
            timings.request_timeout,
        )
        if lease is None:  # held by another, or no answer: either way, not the leader
            self._try_in_vain(isolated)
            await self._wake.wait(self._pause())
        elif self._withdrawn:  # since it asked
            await self._ask(leases.release(lease), timings.request_timeout)
        else:
            self._enter(leading.won(lease, sent_at, timings), isolated)

    async def _reign(self, state: Leading, leases: Leases, isolated: Isolated) -> None:
        await self._wake.wait(max(0.0, state.renew_at - self._clock.elapsed()))
        unwanted, reason = self._unwanted
        if self._blocked_for(self.candidacy.timings.ttl, isolated):
            unwanted, reason = state.lease.token, BLOCKED
        if unwanted == state.lease.token:
            await self._step_down(state, leases, isolated, reason)
            await self._rest(self.candidacy.retry_every + self._pause())
        elif self._refused[0] == state.lease.token:
            await self._depose(Deposed(self._refused[1], release=True), leases, isolated)
        elif not self._stopping and self._clock.elapsed() >= state.renew_at:
            await self._renew(state, leases, isolated)

    async def _renew(self, state: Leading, leases: Leases, isolated: Isolated) -> None:
        timings = self.candidacy.timings
        sent_at = self._clock.elapsed()
        deposed = leading.expired(state, sent_at)
        if deposed is not None:
            await self._depose(deposed, leases, isolated)
            return
        try:
            async with within(self._clock, leading.patience(state, sent_at, timings)):
                lease = await leases.renew(state.lease)
        except Exception as error:  # noqa: BLE001 - no answer is not a "no": go on until the deadline
            self._reach.failed(error)
            after = leading.unanswered(state, self._clock.elapsed(), timings)
        else:
            self._reach.answered()
            after = (
                self._refusal(state)
                if lease is None
                else leading.renewed(state, lease, sent_at, timings)
            )
        if isinstance(after, Deposed):
            await self._depose(after, leases, isolated)
        else:
            self._state = after

    def _refusal(self, state: Leading) -> Deposed:
        refused, confirming = leading.refused(state), self.candidacy.confirming
        if confirming is None:
            return refused
        return replace(refused, reason=confirming.refusal(state.lease))

    async def _depose(self, deposed: Deposed, leases: Leases, isolated: Isolated) -> None:
        if deposed.release and isinstance(self._state, Leading):
            await self._step_down(self._state, leases, isolated, deposed.reason)
        else:
            self._leave(deposed.reason, isolated)
        await self._rest(self._pause_before_campaign())

    async def _step_down(
        self, state: Leading, leases: Leases, isolated: Isolated, reason: str
    ) -> None:
        self._leave(reason, isolated)  # first stop to trust ourselves, then tell the others
        await self._ask(leases.release(state.lease), self.candidacy.timings.request_timeout)

    async def _rest(self, seconds: float) -> None:
        """Let the others go first, although the vacancy that we left is hinted to us as well."""
        until = self._clock.elapsed() + seconds
        while not self._stopping and (wait := until - self._clock.elapsed()) > 0:
            await self._wake.wait(wait)

    async def _ask(self, question: Coroutine[Any, Any, T], seconds: float) -> T | None:
        try:
            async with within(self._clock, seconds):
                answer = await question
        except Exception as error:  # noqa: BLE001 - told to the listeners; the caller takes it for a no
            self._reach.failed(error)
            return None
        self._reach.answered()
        return answer

    async def _listen(self, leases: Leases, isolated: Isolated) -> None:
        while True:
            try:
                async for _ in leases.vacancies(self.candidacy.election):
                    if isinstance(self._state, Following):
                        self._wake.set()
            except Exception as error:  # noqa: BLE001 - hints only: the next try comes anyway
                if self.outage is None:  # else it was told already
                    self._emit(
                        CoordinatorFailed(
                            self.candidacy.election, error, asked=self.candidacy.asked
                        ),
                        isolated,
                    )
            await self._clock.sleep(self.candidacy.retry_every)

    def _blocked_for(self, seconds: float, isolated: Isolated) -> bool:
        return self.candidacy.fenced and self._home.silent_for(isolated) > seconds

    def _enter(self, state: Leading, isolated: Isolated) -> None:
        self._state = state
        isolated.call_home(self.changed)

    def _leave(self, reason: str, isolated: Isolated) -> None:
        if isinstance(self._state, Leading):
            self._lost = (self._state.lease.token, reason)
        self._state = Following(self._clock.elapsed())
        isolated.call_home(self.changed)

    def _try_in_vain(self, isolated: Isolated) -> None:
        self.tries += 1
        isolated.call_home(self.changed)

    def _emit(self, event: Event, isolated: Isolated) -> None:
        isolated.call_home(lambda: self._bus.emit(event))

    def _pause_before_campaign(self) -> float:
        if self.candidacy.confirming is not None:
            return SHORT_REST
        return leading.pause_before_campaign(self.candidacy.timings, self._runtime.random.random())

    def _pause(self) -> float:
        return self.candidacy.retry_every * (0.5 + self._runtime.random.random() / 2)
