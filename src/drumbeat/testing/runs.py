"""Running an app on a fake clock, and getting it to stop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from drumbeat.app import ROLES, Drumbeat
from drumbeat.model.fleet.node import Role
from drumbeat.testing import inside
from drumbeat.testing.clock import FakeClock


@asynccontextmanager
async def running(app: Drumbeat, roles: Iterable[Role | str] = ROLES) -> AsyncGenerator[Drumbeat]:
    """Run the app as a node while the body runs, on its `FakeClock` or any other.

    `app.running()` does the same, but waits in vain if a handler is still at work at the end: the
    grace that it gives is counted on a clock that nobody moves any more. This moves it.
    """
    await app.start(roles)
    try:
        yield app
    finally:
        await stop(app)


async def stop(app: Drumbeat) -> None:
    """Stop the app, moving its `FakeClock` as far as the jobs that still run need."""
    clock = inside.setup(app).runtime.clock
    await (clock.until(app.stop()) if isinstance(clock, FakeClock) else app.stop())
