"""The elections of a remote fleet."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.fleet.remote.request import body_of
from drumbeat.fleet.remote.resource import RemoteResource, request_for
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.election import ElectionView, ResignedView, TermView


class RemoteElections(RemoteResource):
    """Implements `FleetElections`."""

    async def list(self) -> Sequence[ElectionView]:
        """All elections, with their leader, epoch and lease."""
        return await self._get(list[ElectionView], "elections")

    async def get(self, name: str = SCHEDULER) -> ElectionView:
        """The election; its `leader` is None if nobody leads."""
        return await self._get(ElectionView, "elections", name)

    async def history(
        self, name: str = SCHEDULER, page: PageRequest | None = None
    ) -> Page[TermView]:
        """A page of the terms of an election, latest first."""
        return await self._page(TermView, "elections", name, "history", page=page)

    async def resign(
        self, name: str = SCHEDULER, timeout: float = 15.0, reason: str = ""
    ) -> ResignedView:
        """Ask the leader to hand over, and wait until another leads.

        Raises `NobodyLeads` if there is no leader, and `WaitTimeout` if it still leads after
        `timeout` seconds, at most 60.
        """
        request = request_for(
            "POST",
            "elections",
            name,
            "resign",
            query=[("timeout", f"{timeout:g}")],
            body=body_of({"reason": reason}),
            extra_seconds=timeout,
        )
        return await self._send(ResignedView, request)
