"""Submits jobs over HTTP to one server after the other, as a load balancer does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle

from drumbeat import Client
from drumbeat.model.errors import NotRunning, Unavailable
from drumbeat.wire.job import JobView

TIMEOUT = 5.0
"""Seconds that a server has to answer."""


class HttpWork:
    """The task for numbered jobs, behind several servers."""

    def __init__(self, task: str, clients: Sequence[Client]) -> None:
        self._task = task
        self._clients = cycle(clients)

    async def submit_many(self, calls: Iterable[tuple[int]]) -> Sequence[JobView]:
        """Submit these calls to the next server. `Unavailable`: they may have been submitted."""
        try:
            return await next(self._clients).jobs.submit_many(self._task, calls)
        except NotRunning as error:  # it is stopping
            raise Unavailable(str(error)) from error


@asynccontextmanager
async def http_work(task: str, urls: Sequence[str]) -> AsyncGenerator[HttpWork]:
    """The task, for as long as the body takes."""
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Client(url, timeout=TIMEOUT, retries=0)) for url in urls
        ]
        yield HttpWork(task, clients)
