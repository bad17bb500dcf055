"""The elector: campaigns for a lease and keeps it.

It runs in a thread of its own, with its own connection, so that user code which blocks the event
loop for a while cannot starve the renewal. A node whose loop is blocked for longer than a TTL gives
its term up. The elector decides nothing by itself: `rules.lease_trust` is the protocol, and this is
the loop that asks the coordinator and passes the answers on.

It publishes one immutable state, replaced in a single assignment, so that any thread can call
`may_act()` at any time. The answer is judged by our own clock, counted from before we asked: a
pause of this process, a slow reply or a dead coordinator all make it false in time, even if nothing
detects them.

An appointment is not yet a term. The store accepts a leader's writes only after it has turned the
lease into an epoch (`engine.leading.leadership`), and only at the highest epoch that it has seen.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

from drumbeat.engine.leading.candidacy import (
    BLOCKED,
    EXPIRED,
    SHORT_REST,
    SILENT,
    STOPPING,
    WITHDRAWN,
    Candidacy,
)
from drumbeat.engine.leading.coordinator_health import CoordinatorHealth
from drumbeat.engine.leading.watchdog import LoopWatchdog
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.model.events import CoordinatorFailed, Event
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.fleet.outage import Outage
from drumbeat.ports.coordinator import Coordinator, Leases
from drumbeat.ports.runtime import Isolated, Runtime
from drumbeat.rules.leadership import lease_trust
from drumbeat.rules.leadership.lease_trust import Deposed, Following, Leading

T = TypeVar("T")


class LeaderElector:
    """Campaigns in one election for as long as it runs."""

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
        self._wake = WakeUp(self._clock)
        self._health = CoordinatorHealth(
            candidacy.election, candidacy.asked, self._clock, self._emit
        )
        self._watchdog = LoopWatchdog(self._clock)
        self._isolated: Isolated | None = None
        """The elector's thread, for calls from the event loop of the node into it."""
        self._inside: Isolated | None = None
        """The same, for calls from the elector's thread to the event loop of the node."""
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._state: Following | Leading = Following(self._clock.elapsed())
        self._unwanted = (0, "")
        self._refused = (0, "")
        self._withdrawn = False
        self._stopping = False
        self._stopped_because = STOPPING
        self._lost = (0, "")
        self._witness = candidacy.witness
        self._turn = 1
        """The turn of the witness by which the term is judged."""
        if self._witness is not None:
            self._witness.on_change(self._wake_up)
        self.tries = 0
        """How often it has asked for a term without getting one."""

    @property
    def state(self) -> Following | Leading:
        return self._state

    @property
    def outage(self) -> Outage | None:
        """What the coordinator fails with, and since when; None: it answers."""
        return self._health.outage

    def may_act(self, lease: Lease) -> bool:
        """Whether this term can still be trusted, by our own clock."""
        state = self._state
        return (
            isinstance(state, Leading)
            and state.lease.token == lease.token
            and lease_trust.may_act(state, self._clock.elapsed())
            and (self._witness is None or self._witness.may_act(self._turn))
        )

    async def confirm(self, lease: Lease) -> bool:
        """Whether this term may act, also according to a user's elector. On the node's loop.

        Call it right before ticks are fired. A no, an error or no answer in time ends the term.
        """
        state, confirming = self._state, self.candidacy.confirming
        if confirming is None or not isinstance(state, Leading) or not self.may_act(lease):
            return self.may_act(lease)
        patience = lease_trust.request_timeout(state, self._clock.elapsed(), self.candidacy.timings)
        try:
            async with timeout_after(self._clock, patience):
                if await confirming.confirm(lease):
                    return self.may_act(lease)
            reason = confirming.refusal(lease)
        except TimeoutError:
            reason = SILENT
        self._refused = (lease.token, reason)
        self._wake_up()
        return False

    async def would_lead(self) -> bool:
        """Whether a user's elector says yes now, although no term has begun. On the node's loop.

        If so, the elector asks for a term at once.
        """
        confirming = self.candidacy.confirming
        if confirming is None:
            return False
        try:
            async with timeout_after(self._clock, self.candidacy.timings.request_timeout):
                leads = await confirming.leads()
        except TimeoutError:
            return False
        if leads:
            self._wake_up()
        return leads

    def lost_because(self, lease: Lease) -> str:
        """Why this term ended, as far as it is known."""
        token, reason = self._lost
        return reason if token == lease.token else EXPIRED

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call the listener on the node's loop after each change of state and each failed try."""
        self._listeners += (listener,)

    def start(self) -> None:
        self._isolated = self._runtime.spawn_isolated(
            f"drumbeat-elector-{self.candidacy.election}", self._run
        )

    def resign(self, lease: Lease, reason: str) -> None:
        """Give this term up, and let others go first in the next."""
        self._unwanted = (lease.token, reason)
        self._wake_up()

    def withdraw(self) -> None:
        """Give up any term, and stop campaigning."""
        self._withdrawn = True
        state = self._state
        if isinstance(state, Leading):
            self.resign(state.lease, WITHDRAWN)

    async def stop(self, reason: str = STOPPING) -> None:
        """Release the lease, if there is one, and stop."""
        if self._isolated is None:
            return
        self._stopped_because = reason
        self._stopping = True
        self._isolated.call_inside(self._wake.set)
        try:
            async with timeout_after(self._clock, 2 * self.candidacy.timings.request_timeout + 1):
                await self._isolated.ended()
        except TimeoutError:  # the coordinator does not answer: the lease will run out by itself
            self._isolated.cancel()
            await self._isolated.ended()
        self._isolated = None

    def hurry(self) -> None:
        """Ask for a term at once: there may be a vacancy."""
        self._wake_up()

    def _wake_up(self) -> None:
        if self._isolated is not None:
            self._isolated.call_inside(self._wake.set)

    async def _run(self, isolated: Isolated) -> None:
        self._inside = isolated
        coordinator = self._connect()
        try:
            while not self._stopping:
                try:
                    await self._serve(coordinator)
                except Exception as error:  # noqa: BLE001 - an elector never stops campaigning
                    self._health.failed(error)
                    self._count_failed_try()
                    await self._wake.wait(self._pause())
        finally:
            with contextlib.suppress(Exception):
                await coordinator.close()

    async def _serve(self, coordinator: Coordinator) -> None:
        await coordinator.open()
        async with asyncio.TaskGroup() as group:
            hints = group.create_task(self._listen(coordinator.leases))
            try:
                while not self._stopping:
                    match self._state:
                        case Following():
                            await self._campaign(coordinator.leases)
                        case Leading() as state:
                            await self._keep_term(state, coordinator.leases)
                if isinstance(self._state, Leading):
                    await self._step_down(self._state, coordinator.leases, self._stopped_because)
            finally:
                hints.cancel()

    async def _campaign(self, leases: Leases) -> None:
        if self._withdrawn:
            await self._wake.wait()
            return
        timings = self.candidacy.timings
        if self._blocked_for(timings.renew_every):  # it could not lead
            await self._wake.wait(self._pause())
            return
        if self._witness is not None and not self._witness.is_ready():  # it could not act
            await self._wake.wait(self._pause())
            return
        turn = 1 if self._witness is None else self._witness.turn
        sent_at = self._clock.elapsed()
        lease = await self._ask(
            leases.acquire(
                self.candidacy.election, self.candidacy.node, timedelta(seconds=timings.ttl)
            ),
            timings.request_timeout,
        )
        if lease is None:  # held by another, or no answer: either way, not the leader
            self._count_failed_try()
            await self._wake.wait(self._pause())
        elif self._withdrawn:  # since it asked
            await self._ask(leases.release(lease), timings.request_timeout)
        else:
            self._turn = turn
            self._enter(lease_trust.won(lease, sent_at, timings))

    async def _keep_term(self, state: Leading, leases: Leases) -> None:
        await self._wake.wait(max(0.0, state.renew_at - self._clock.elapsed()))
        unwanted, reason = self._unwanted
        if self._blocked_for(self.candidacy.timings.ttl):
            unwanted, reason = state.lease.token, BLOCKED
        if unwanted == state.lease.token:
            await self._step_down(state, leases, reason)
            await self._rest(self.candidacy.retry_every + self._pause())
        elif self._refused[0] == state.lease.token:
            await self._depose(Deposed(self._refused[1], release=True), leases)
        elif self._witness is not None and (gone := self._witness.is_over(self._turn)):
            await self._depose(Deposed(gone, release=True), leases)
        elif not self._stopping and self._clock.elapsed() >= state.renew_at:
            await self._renew(state, leases)

    async def _renew(self, state: Leading, leases: Leases) -> None:
        timings = self.candidacy.timings
        sent_at = self._clock.elapsed()
        deposed = lease_trust.expired(state, sent_at)
        if deposed is not None:
            await self._depose(deposed, leases)
            return
        try:
            async with timeout_after(
                self._clock, lease_trust.request_timeout(state, sent_at, timings)
            ):
                lease = await leases.renew(state.lease)
        except Exception as error:  # noqa: BLE001 - no answer is not a "no": go on until the deadline
            self._health.failed(error)
            after = lease_trust.unanswered(state, self._clock.elapsed(), timings)
        else:
            self._health.answered()
            after = (
                self._refusal(state)
                if lease is None
                else lease_trust.renewed(state, lease, sent_at, timings)
            )
        if isinstance(after, Deposed):
            await self._depose(after, leases)
        else:
            self._state = after

    def _refusal(self, state: Leading) -> Deposed:
        refused, confirming = lease_trust.refused(state), self.candidacy.confirming
        if confirming is None:
            return refused
        return replace(refused, reason=confirming.refusal(state.lease))

    async def _depose(self, deposed: Deposed, leases: Leases) -> None:
        if deposed.release and isinstance(self._state, Leading):
            await self._step_down(self._state, leases, deposed.reason)
        else:
            self._leave(deposed.reason)
        await self._rest(self._pause_before_campaign())

    async def _step_down(self, state: Leading, leases: Leases, reason: str) -> None:
        self._leave(reason)  # stop acting first, then release
        await self._ask(leases.release(state.lease), self.candidacy.timings.request_timeout)

    async def _rest(self, seconds: float) -> None:
        """Let the others go first, although the vacancy that we left is hinted to us as well."""
        until = self._clock.elapsed() + seconds
        while not self._stopping and (wait := until - self._clock.elapsed()) > 0:
            await self._wake.wait(wait)

    async def _ask(self, question: Coroutine[Any, Any, T], seconds: float) -> T | None:
        try:
            async with timeout_after(self._clock, seconds):
                answer = await question
        except Exception as error:  # noqa: BLE001 - reported as an event; the caller takes it as a no
            self._health.failed(error)
            return None
        self._health.answered()
        return answer

    async def _listen(self, leases: Leases) -> None:
        while True:
            try:
                async for _ in leases.vacancies(self.candidacy.election):
                    if isinstance(self._state, Following):
                        self._wake.set()
            except Exception as error:  # noqa: BLE001 - hints only: the next try comes anyway
                if self.outage is None:  # else it was reported already
                    self._emit(
                        CoordinatorFailed(
                            self.candidacy.election, error, asked=self.candidacy.asked
                        ),
                    )
            await self._clock.sleep(self.candidacy.retry_every)

    def _blocked_for(self, seconds: float) -> bool:
        return self.candidacy.fenced and self._watchdog.blocked_for(self._call_home) > seconds

    def _enter(self, state: Leading) -> None:
        self._state = state
        if self._witness is not None:
            self._witness.lead(leading=True)
        self._call_home(self._notify)

    def _leave(self, reason: str) -> None:
        if isinstance(self._state, Leading):
            self._lost = (self._state.lease.token, reason)
        self._state = Following(self._clock.elapsed())
        if self._witness is not None:
            self._witness.lead(leading=False)
        self._call_home(self._notify)

    def _count_failed_try(self) -> None:
        self.tries += 1
        self._call_home(self._notify)

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()

    def _call_home(self, callback: Callable[[], None]) -> None:
        assert self._inside is not None, "called in the elector's thread"
        self._inside.call_home(callback)

    def _emit(self, event: Event) -> None:
        self._call_home(lambda: self._bus.emit(event))

    def _pause_before_campaign(self) -> float:
        if self.candidacy.confirming is not None:
            return SHORT_REST
        return lease_trust.pause_before_campaign(
            self.candidacy.timings, self._runtime.random.random()
        )

    def _pause(self) -> float:
        return self.candidacy.retry_every * (0.5 + self._runtime.random.random() / 2)
