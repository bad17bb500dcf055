"""The isolated app: what a test does with an app whose store is in memory."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, TypeVar, Unpack

from drumbeat.app import ROLES, Drumbeat
from drumbeat.engine.tasks.handle import Task
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.job import Job
from drumbeat.model.schedules.plan import TickRecord
from drumbeat.testing import assertions
from drumbeat.testing.assertions import Filters
from drumbeat.testing.clock import FakeClock
from drumbeat.testing.draining import Drained, drain
from drumbeat.testing.inlining import inline
from drumbeat.testing.runs import running
from drumbeat.testing.ticking import Ticked, tick

T = TypeVar("T")


class IsolatedApp:
    """An app for one test. Whatever takes time is awaited; looking is not."""

    def __init__(self, app: Drumbeat, clock: FakeClock) -> None:
        self.app = app
        self.clock = clock
        """The app's time, which stands still until the test moves it."""

    def running(self, roles: Iterable[Role | str] = ROLES) -> AbstractAsyncContextManager[Drumbeat]:
        """Run the app as a node while the body runs."""
        return running(self.app, roles)

    async def advance(self, by: str | float | timedelta) -> None:
        """Let time pass: a running app does all that is due, moment by moment."""
        await self.clock.advance(by)

    async def drain(self, *, include_pending: bool = False, limit: int | None = None) -> Drained:
        """Run all queued jobs, and those that they submit, without a node."""
        return await drain(self.app, include_pending=include_pending, limit=limit)

    async def tick(self, *, at: datetime | None = None) -> Ticked:
        """Fire the ticks of all schedules that are due now, or at an instant, without a node."""
        return await tick(self.app, at=at)

    def inline(self, *, raises: bool = False) -> AbstractContextManager[None]:
        """Run each job of the body as soon as it is submitted."""
        return inline(self.app, raises=raises)

    def submitted(
        self, task: Task[..., Any] | str | None = None, **filters: Unpack[Filters]
    ) -> list[Job]:
        """The jobs that were submitted, by a schedule's ticks too, oldest first."""
        return _at_once(assertions.submitted(self.app, task, **filters))

    def assert_submitted(
        self,
        task: Task[..., Any] | str,
        /,
        *args: Any,
        times: int | None = None,
        **kwargs: Any,
    ) -> list[Job]:
        """Assert that the task was submitted with these arguments, and return its jobs."""
        return _at_once(assertions.assert_submitted(self.app, task, *args, times=times, **kwargs))

    def assert_not_submitted(
        self, task: Task[..., Any] | str, /, *args: Any, **kwargs: Any
    ) -> None:
        """Assert that the task was never submitted with these arguments; without any: at all."""
        _at_once(assertions.assert_not_submitted(self.app, task, *args, **kwargs))

    def assert_fired(self, schedule: str, tick_at: datetime) -> TickRecord:
        """Assert that the ledger has this tick as fired, and return its row."""
        return _at_once(assertions.assert_fired(self.app, schedule, tick_at))


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, as those of the memory store, on any thread."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise AssertionError("the store of an isolated app is in memory, which answers at once")
