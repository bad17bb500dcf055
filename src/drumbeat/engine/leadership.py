"""Leadership: starts the leader's services when this node leads, and stops them when it does not.

An appointment by the coordinator becomes a term only when the store has turned its lease into an
epoch. From then on every leader's write carries that epoch, so a leader that does not know yet
that it was replaced can change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from drumbeat.engine.bus import Bus
from drumbeat.engine.elector import OWN_WILL, RESIGNED, Elector
from drumbeat.engine.patience import within
from drumbeat.engine.service import Service, serving
from drumbeat.engine.signal import Signal
from drumbeat.model.events import LeadershipGained, LeadershipLost
from drumbeat.model.lease import Epoch, Lease, Outranked
from drumbeat.model.outage import Outage
from drumbeat.ports.runtime import Runtime
from drumbeat.ports.store import Store
from drumbeat.rules.leading import Leading


@dataclass(frozen=True, slots=True)
class Term:
    """One term of this node: a lease that the store has accepted as an epoch."""

    lease: Lease
    epoch: Epoch
    elector: Elector

    def may_act(self) -> bool:
        """Whether the term is still to be trusted: ask right before every leader's write."""
        return self.elector.may_act(self.lease)

    async def confirm(self) -> bool:
        """The same, also by the word of a user's own elector: ask right before ticks are fired."""
        return await self.elector.confirm(self.lease)

    @property
    def patience(self) -> float:
        """Seconds after which a leader that cannot reach the store lets others try."""
        return self.elector.candidacy.timings.ttl / 2

    def resign(self, reason: str) -> None:
        """Give the term up, and say why."""
        self.elector.resign(self.lease, reason)


class Leadership(Service):
    """Follows the elector, claims epochs, and runs the leader's services during a term."""

    name = "leadership"

    def __init__(
        self,
        elector: Elector,
        store: Store,
        services: Callable[[Term], Sequence[Service]],
        runtime: Runtime,
        bus: Bus,
    ) -> None:
        super().__init__(runtime, bus)
        self._elector = elector
        self._store = store
        self._services = services
        self._lost = Signal(runtime.clock)
        self._term: Term | None = None
        elector.changed = self._follow

    @property
    def term(self) -> Term | None:
        """The present term of this node, if it leads and may act."""
        term = self._term
        return term if term is not None and term.may_act() else None

    @property
    def lease_remaining(self) -> float:
        """Seconds for which this node may trust in its term without a renewal; 0 without one."""
        state = self._elector.state
        if self.term is None or not isinstance(state, Leading):
            return 0.0
        return max(0.0, state.deadline - self._runtime.clock.elapsed())

    @property
    def outage(self) -> Outage | None:
        """What the coordinator fails with, and since when; None: it answers."""
        return self._elector.outage

    async def once(self) -> float | None:
        """Turn an appointment into a term, and see it through to its end."""
        state = self._elector.state
        if not isinstance(state, Leading):
            return None
        match await self._claim(state.lease):
            case Epoch() as epoch:
                await self._lead(Term(state.lease, epoch, self._elector))
            case Outranked():  # the store knows a later term, or this claim was made before
                self._elector.resign(state.lease, "the store knows a later term")
        return None

    async def _claim(self, lease: Lease) -> Epoch | Outranked:
        try:
            async with within(self._runtime.clock, self._elector.candidacy.timings.ttl / 2):
                return await self._store.fence.claim(lease)
        except Exception:
            # Perhaps it was claimed: then this term cannot be claimed again. Perhaps others reach
            # the store and we do not. Either way it takes a new term.
            self._elector.resign(lease, "the store did not answer")
            raise

    def resign(self, reason: str = RESIGNED) -> None:
        """Give up the present term, if there is one."""
        if self._term is not None:
            self._term.resign(reason)

    async def _lead(self, term: Term) -> None:
        if not term.may_act():
            return
        self._term = term
        self._succeed()
        node = self._elector.candidacy.node
        self._bus.emit(LeadershipGained(term.epoch.election, node, term.epoch.number))
        try:
            await self._serve(term)
        finally:
            self._term = None
            reason = self._elector.lost_because(term.lease)
            self._bus.emit(
                LeadershipLost(
                    term.epoch.election, node, term.epoch.number, reason, reason in OWN_WILL
                )
            )

    async def _serve(self, term: Term) -> None:
        async with serving(self._services(term), self._store):
            while term.may_act() and isinstance(state := self._elector.state, Leading):
                await self._lost.wait(max(0.0, state.deadline - self._runtime.clock.elapsed()))

    def _follow(self) -> None:
        self._lost.set()
        self.wake()
