"""Leadership, asked of a server."""

from __future__ import annotations

from drumbeat.client.asking import Noun
from drumbeat.client.request import Request, body_of, path_of
from drumbeat.model.lease import SCHEDULER, Lease, TermRecord
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.election import (
    ElectionView,
    ResignedView,
    TermView,
    leader_of,
    lease_of,
    term_of,
)


class Leadership(Noun):
    """Who leads, who did, and how another is let."""

    async def leader(self) -> Lease | None:
        """The lease of whoever leads, as the coordinator has it; None if nobody does."""
        answer = await self._get(path_of("elections", SCHEDULER))
        return lease_of(answer.read(ElectionView))

    async def history(
        self, page: PageRequest | None = None, election: str = SCHEDULER
    ) -> Page[TermRecord]:
        """A page of the terms of an election, the latest first."""
        request = Request("GET", path_of("elections", election, "history"), about=election)
        return await self._page(request, page, TermView, term_of)

    async def resign(
        self, timeout: float = 15.0, reason: str = ""
    ) -> tuple[Lease | None, Lease | None]:
        """Ask the leader to let another lead: who led, and who leads now; both None: nobody led.

        `WaitTimeout` if it still leads after so many seconds, at most 60.
        """
        request = Request(
            "POST",
            path_of("elections", SCHEDULER, "resign"),
            [("timeout", f"{timeout:g}")],
            body_of({"reason": reason}),
            longer=timeout,
        )
        answer = await self._exchange.ask(request, ("nobody-leads",))
        if answer.problem is not None:
            return None, None
        view = answer.read(ResignedView)
        return leader_of(view.before), leader_of(view.after)
