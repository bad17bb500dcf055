"""The leader-aware scheduler: an app that works only while an election is won."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from drumbeat.app import ROLES, Drumbeat
from drumbeat.electors.wrapped import Electing
from drumbeat.model.fleet.node import Role
from drumbeat.ports.elector import Elector


class LeaderAwareScheduler:
    """Wraps an app: it fires ticks and runs jobs only while the elector says so.

    ```python
    election = LeaderElection("instance-1", "sqlite:///leader.db")
    async with LeaderAwareScheduler(election, app): ...
    ```
    The election is joined from the start to the stop of the scheduler. `Drumbeat(elector=...)` does
    the same without that, and its followers run jobs of a shared store.
    """

    def __init__(self, elector: Elector, app: Drumbeat) -> None:
        self.elector = elector
        self.app = app
        app.obey(elector, followers_idle=True)

    async def start(self, roles: Iterable[Role | str] = ROLES) -> None:
        """Join the election, and start the app."""
        if isinstance(self.elector, Electing):
            await self.elector.elect()
        await self.app.start(roles)

    async def stop(self, grace: float | None = None) -> None:
        """Stop the app, then let another lead."""
        try:
            await self.app.stop(grace)
        finally:
            if isinstance(self.elector, Electing):
                await self.elector.resign("stopping")

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
