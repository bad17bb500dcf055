"""Leadership: starts the leader's services when this node leads, and stops them when it does not.

An appointment by the coordinator becomes a term only when the store has turned its lease into an
epoch. From then on every write of the leader carries that epoch, so a leader that was replaced
without noticing can change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from drumbeat.engine.leading.candidacy import EXPIRED, RESIGNED, VOLUNTARY
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.plumbing.service import Service, ServiceContext, serving
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.engine.plumbing.wake_up import WakeUp
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.model.fleet.lease import Epoch, Lease, Outranked
from drumbeat.model.fleet.outage import Outage
from drumbeat.ports.store import Store
from drumbeat.rules.leadership.lease_trust import Leading


@dataclass(frozen=True, slots=True)
class Term:
    """One term of this node: a lease that the store has accepted as an epoch."""

    lease: Lease
    epoch: Epoch
    elector: LeaderElector

    def may_act(self) -> bool:
        """Whether the term can still be trusted: call it right before every write of the leader."""
        return self.elector.may_act(self.lease)

    async def confirm(self) -> bool:
        """The same, also according to a user's elector: call it right before ticks are fired."""
        return await self.elector.confirm(self.lease)

    @property
    def store_timeout(self) -> float:
        """Seconds after which a leader that cannot reach the store lets others try."""
        return self.elector.candidacy.timings.ttl / 2

    def resign(self, reason: str) -> None:
        self.elector.resign(self.lease, reason)


class Leadership(Service):
    """Follows the elector, claims epochs, and runs the leader's services during a term."""

    name = "leadership"

    def __init__(
        self,
        elector: LeaderElector,
        store: Store,
        services: Callable[[Term], Sequence[Service]],
        context: ServiceContext,
    ) -> None:
        super().__init__(context)
        self.elector = elector
        self._store = store
        self._services = services
        self._lost = WakeUp(context.runtime.clock)
        self._term: Term | None = None
        elector.on_change(self._follow)

    @property
    def term(self) -> Term | None:
        """The present term of this node, if it leads and may act."""
        term = self._term
        return term if term is not None and term.may_act() else None

    @property
    def lease_remaining(self) -> float:
        """Seconds for which this node may trust its term without a renewal; 0 without one."""
        state = self.elector.state
        if self.term is None or not isinstance(state, Leading):
            return 0.0
        return max(0.0, state.deadline - self._runtime.clock.elapsed())

    @property
    def outage(self) -> Outage | None:
        return self.elector.outage

    async def once(self) -> float | None:
        """Turn an appointment into a term, and run the leader's services until it ends."""
        state = self.elector.state
        if not isinstance(state, Leading):
            return None
        match await self._claim(state.lease):
            case Epoch() as epoch:
                await self._lead(Term(state.lease, epoch, self.elector))
                self._give_back(state.lease)
            case Outranked():  # the store knows a later term, or this claim was made before
                self.elector.resign(state.lease, "the store knows a later term")
        return None

    async def _claim(self, lease: Lease) -> Epoch | Outranked:
        try:
            async with timeout_after(self._runtime.clock, self.elector.candidacy.timings.ttl / 2):
                return await self._store.fence.claim(lease)
        except Exception:
            # Perhaps it was claimed: then this term cannot be claimed again. Perhaps others reach
            # the store and we do not. Either way it takes a new term.
            self.elector.resign(lease, "the store did not answer")
            raise

    def _give_back(self, lease: Lease) -> None:
        """Release the lease of a term that is over, if the elector still holds it.

        A renewal may be answered just after the deadline. It prolongs the lease, but not the term,
        which cannot be claimed twice: the lease would keep everybody from leading.
        """
        state = self.elector.state
        if isinstance(state, Leading) and state.lease.token == lease.token:
            self.elector.resign(lease, EXPIRED)

    def resign(self, reason: str = RESIGNED) -> None:
        """Give up the present term, if there is one."""
        if self._term is not None:
            self._term.resign(reason)

    async def _lead(self, term: Term) -> None:
        if not term.may_act():
            return
        self._term = term
        self._succeed()
        node = self.elector.candidacy.node
        self._bus.emit(LeadershipGained(term.epoch.election, node, term.epoch.number))
        try:
            await self._serve(term)
        finally:
            self._term = None
            reason = self.elector.lost_because(term.lease)
            self._bus.emit(
                LeadershipLost(
                    term.epoch.election, node, term.epoch.number, reason, reason in VOLUNTARY
                )
            )

    async def _serve(self, term: Term) -> None:
        async with serving(self._services(term), self._store):
            while term.may_act() and isinstance(state := self.elector.state, Leading):
                await self._lost.wait(max(0.0, state.deadline - self._runtime.clock.elapsed()))

    def _follow(self) -> None:
        self._lost.set()
        self.wake()
