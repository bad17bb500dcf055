"""The isolated app, for tests that are not coroutines."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from drumbeat.app import ROLES, Drumbeat
from drumbeat.model.fleet.node import Role
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.draining import Drained
from drumbeat.testing.isolated_app import IsolatedApp
from drumbeat.testing.runs import stop
from drumbeat.testing.ticking import Ticked

T = TypeVar("T")


class SyncIsolatedApp:
    """The same as `IsolatedApp`, but each call returns when it is done.

    The app runs on the event loop that runs it already, such as that of a web app under test, else
    on the one that `submit_sync` uses too.
    """

    def __init__(self, isolated: IsolatedApp) -> None:
        self._isolated = isolated
        self.submitted = isolated.submitted
        self.assert_submitted = isolated.assert_submitted
        self.assert_not_submitted = isolated.assert_not_submitted
        self.assert_fired = isolated.assert_fired

    @property
    def app(self) -> Drumbeat:
        return self._isolated.app

    @property
    def clock(self) -> FakeClock:
        """The app's time, which stands still until the test moves it."""
        return self._isolated.clock

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do anything asynchronous: `drumbeat_sync.call(lambda: app.jobs.result(job.id))`."""
        return inside.bridge(self.app).call(work)

    @contextmanager
    def running(self, roles: Iterable[Role | str] = ROLES) -> Generator[Drumbeat]:
        """Run the app as a node while the body runs."""
        self.call(lambda: self.app.start(roles))
        try:
            yield self.app
        finally:
            self.call(lambda: stop(self.app))

    def advance(self, by: str | float | timedelta) -> None:
        """Let time pass: a running app does all that is due, moment by moment."""
        self.call(lambda: self._isolated.advance(by))

    def drain(self, *, include_pending: bool = False, limit: int | None = None) -> Drained:
        """Run all queued jobs, and those that they submit, without a node."""
        return self.call(lambda: self._isolated.drain(include_pending=include_pending, limit=limit))

    def tick(self, *, at: datetime | None = None) -> Ticked:
        """Fire the ticks of all schedules that are due now, or at an instant, without a node."""
        return self.call(lambda: self._isolated.tick(at=at))

    def inline(self, *, raises: bool = False) -> AbstractContextManager[None]:
        """Run each job of the body as soon as it is submitted."""
        return self._isolated.inline(raises=raises)
