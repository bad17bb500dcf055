"""Elections of the local fleet."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.engine.leading.hand_over import request_for
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.fleet.local.audit import AuditTrail
from drumbeat.fleet.local.current_election import current_election
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import NobodyLeads, UnknownElection, WaitTimeout
from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.election import (
    ElectionView,
    ResignedView,
    TermView,
    leader_view,
    term_view,
)

LOOK_EVERY = 0.1
NO_SUCCESSOR_AFTER = 6.0
"""Seconds after which a hand-over without a new leader is over: there may be no other node."""


class LocalElections:
    """Implements `FleetElections`. The election of the schedulers is the only one."""

    def __init__(self, services: Services, trail: AuditTrail) -> None:
        self._services = services
        self._leadership = services.leadership
        self._clock = services.runtime.clock
        self._trail = trail

    async def list(self) -> Sequence[ElectionView]:
        return [await self.get()]

    async def get(self, name: str = SCHEDULER) -> ElectionView:
        _check_name(name)
        return await current_election(self._services)

    async def history(
        self, name: str = SCHEDULER, page: PageRequest | None = None
    ) -> Page[TermView]:
        _check_name(name)
        found = await self._services.store.fence.history(name, page or PageRequest())
        return Page(tuple(term_view(term) for term in found.items), found.next)

    async def resign(
        self, name: str = SCHEDULER, timeout: float = 15.0, reason: str = ""
    ) -> ResignedView:
        async with self._trail.change("election.resign", name, reason):
            _check_name(name)
            before = await self._services.reachability.leader()
            if before is None:
                raise NobodyLeads("no node leads, so no leader can resign")
            after = await self._hand_over(before, timeout)
            return ResignedView(before=leader_view(before), after=leader_view(after))

    async def _hand_over(self, before: Lease, timeout: float) -> Lease | None:
        """Ask the leader to resign, and return its successor, if there is one soon.

        Only the leader can end its own term safely: if its lease were taken away, it would trust
        it until the next renewal, while another node leads already.
        """
        key, value = request_for(before)
        await self._services.coordinator.configuration.put(key, value)
        try:
            async with timeout_after(self._clock, timeout):
                while _same(before, after := await self._leadership.leader()):
                    await self._clock.sleep(LOOK_EVERY)
        except TimeoutError:
            raise WaitTimeout(
                f"{before.holder} was asked to resign and still leads after {timeout:g} s; "
                f"is it alive, and of this version?"
            ) from None
        until = self._clock.elapsed() + min(NO_SUCCESSOR_AFTER, timeout)
        while after is None and self._clock.elapsed() < until:
            await self._clock.sleep(LOOK_EVERY)
            after = await self._leadership.leader()
        return after


def _same(before: Lease, after: Lease | None) -> bool:
    return after is not None and (before.domain, before.token) == (after.domain, after.token)


def _check_name(name: str) -> None:
    if name != SCHEDULER:
        raise UnknownElection(name)
