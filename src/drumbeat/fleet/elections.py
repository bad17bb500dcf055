"""The protocol for elections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from drumbeat.fleet.endpoint import endpoint
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.election import ElectionView, ResignedView, TermView
from drumbeat.wire.queries import ResignQuery


class FleetElections(Protocol):
    """Who leads, who led, and how to hand over. An unknown name raises `UnknownElection`."""

    @endpoint("GET /elections", "List elections with their leader, epoch and lease")
    async def list(self) -> Sequence[ElectionView]:
        """All elections, with their leader, epoch and lease."""
        ...

    @endpoint("GET /elections/{name}", "Show an election")
    async def get(self, name: str = SCHEDULER) -> ElectionView:
        """The election; its `leader` is None if nobody leads."""
        ...

    @endpoint("GET /elections/{name}/history", "List the terms of an election, the latest first")
    async def history(
        self, name: str = SCHEDULER, page: PageRequest | None = None
    ) -> Page[TermView]:
        """A page of the terms of an election, latest first."""
        ...

    @endpoint(
        "POST /elections/{name}/resign",
        "Ask the leader to resign, and wait until another leads",
        query=ResignQuery,
        refuses=(409, 504),
    )
    async def resign(
        self, name: str = SCHEDULER, timeout: float = 15.0, reason: str = ""
    ) -> ResignedView:
        """Ask the leader to hand over, and wait until another leads.

        Raises `NobodyLeads` if there is no leader, and `WaitTimeout` if it still leads after
        `timeout` seconds (0 to 60). Nobody leading for a while is a result, too: there may be no
        other candidate.
        """
        ...
