"""The client for code without an event loop."""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import Self

from drumbeat.client.audit import AuditLog
from drumbeat.client.client import Client
from drumbeat.client.configuration import Configuration
from drumbeat.client.face import Face, waited, walked
from drumbeat.client.jobs import Jobs
from drumbeat.client.leadership import Leadership
from drumbeat.client.manners import RETRIES, TIMEOUT
from drumbeat.client.operations import Operations
from drumbeat.client.queues import QueuesOfServer
from drumbeat.client.schedules import Schedules
from drumbeat.client.thread import LoopThread
from drumbeat.client.tokens import Tokens
from drumbeat.model.errors import NotRunning


class SyncJobs(Face[Jobs]):
    """What can be asked of jobs."""

    submit = waited(Jobs.submit)
    submit_many = waited(Jobs.submit_many)
    get = waited(Jobs.get)
    list = waited(Jobs.list)
    all = walked(Jobs.all)
    attempts = waited(Jobs.attempts)
    counts = waited(Jobs.counts)
    cancel = waited(Jobs.cancel)
    retry = waited(Jobs.retry)
    retry_many = waited(Jobs.retry_many)
    cancel_many = waited(Jobs.cancel_many)
    wait = waited(Jobs.wait)
    result = waited(Jobs.result)


class SyncSchedules(Face[Schedules]):
    """What can be asked of schedules."""

    def at_version(self, version: int) -> SyncSchedules:
        """The same, with changes that are made only to a schedule at this version."""
        return SyncSchedules(self._noun.at_version(version), self._thread)

    put = waited(Schedules.put)
    get = waited(Schedules.get)
    list = waited(Schedules.list)
    all = walked(Schedules.all)
    pause = waited(Schedules.pause)
    resume = waited(Schedules.resume)
    skip = waited(Schedules.skip)
    unskip = waited(Schedules.unskip)
    hand_back = waited(Schedules.hand_back)
    remove = waited(Schedules.remove)
    trigger = waited(Schedules.trigger)
    backfill = waited(Schedules.backfill)
    preview = waited(Schedules.preview)
    ticks = waited(Schedules.ticks)
    explain = waited(Schedules.explain)


class SyncQueues(Face[QueuesOfServer]):
    """What can be asked of queues."""

    list = waited(QueuesOfServer.list)
    get = waited(QueuesOfServer.get)
    pause = waited(QueuesOfServer.pause)
    resume = waited(QueuesOfServer.resume)


class SyncOperations(Face[Operations]):
    """What can be asked of changes of many jobs."""

    retry = waited(Operations.retry)
    cancel_jobs = waited(Operations.cancel_jobs)
    get = waited(Operations.get)
    list = waited(Operations.list)
    cancel = waited(Operations.cancel)
    wait = waited(Operations.wait)


class SyncLeadership(Face[Leadership]):
    """Who leads, who did, and how another is let."""

    leader = waited(Leadership.leader)
    history = waited(Leadership.history)
    resign = waited(Leadership.resign)


class SyncConfiguration(Face[Configuration]):
    """Small values that the fleet shares."""

    get = waited(Configuration.get)
    put = waited(Configuration.put)
    compare_and_set = waited(Configuration.compare_and_set)
    delete = waited(Configuration.delete)


class SyncAuditLog(Face[AuditLog]):
    """Who changed what."""

    list = waited(AuditLog.list)
    all = walked(AuditLog.all)


class SyncTokens(Face[Tokens]):
    """Who may use the HTTP API."""

    create = waited(Tokens.create)
    list = waited(Tokens.list)
    revoke = waited(Tokens.revoke)


class SyncClient(Face[Client]):
    """The same as `Client`, without `await`: for scripts and for web apps without an event loop.

    ```python
    with SyncClient("http://127.0.0.1:8080", token) as client:
        job = client.jobs.submit("greet", kwargs={"name": "Anna"})
    ```
    It may be used from several threads at once.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        tls: ssl.SSLContext | None = None,
        reason: str = "",
    ) -> None:
        client = Client(url, token, timeout=timeout, retries=retries, tls=tls, reason=reason)
        super().__init__(client, LoopThread())
        thread = self._thread
        self.jobs = SyncJobs(client.jobs, thread)
        self.schedules = SyncSchedules(client.schedules, thread)
        self.queues = SyncQueues(client.queues, thread)
        self.operations = SyncOperations(client.operations, thread)
        self.leadership = SyncLeadership(client.leadership, thread)
        self.config = SyncConfiguration(client.config, thread)
        self.audit = SyncAuditLog(client.audit, thread)
        self.tokens = SyncTokens(client.tokens, thread)

    def __repr__(self) -> str:
        return f"<SyncClient {self.url!r}>"

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._noun.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. The client is of no use after that."""
        with suppress(NotRunning):  # it was closed before
            self._thread.call(self._noun.close)
        self._thread.close()

    nodes = waited(Client.nodes)
    drain = waited(Client.drain)
    health = waited(Client.health)
    now = waited(Client.now)
    settings = waited(Client.settings)
    tasks = waited(Client.tasks)
    events = walked(Client.events)
