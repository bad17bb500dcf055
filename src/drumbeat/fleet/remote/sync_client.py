"""The client for code without an event loop."""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import Self

from drumbeat.blocking.loop_thread import LoopThread
from drumbeat.blocking.methods import BlockingResource, waited, walked
from drumbeat.fleet.remote.client_options import RETRIES, TIMEOUT
from drumbeat.fleet.remote.events import RemoteEvents
from drumbeat.fleet.remote.fleet import RemoteFleet
from drumbeat.fleet.remote.jobs import RemoteJobs
from drumbeat.fleet.remote.operations import RemoteOperations
from drumbeat.fleet.remote.parts import (
    RemoteAudit,
    RemoteConfiguration,
    RemoteElections,
    RemoteNodes,
    RemoteOverview,
    RemoteQueues,
    RemoteTokens,
)
from drumbeat.fleet.remote.schedules import RemoteSchedules
from drumbeat.model.errors import NotRunning


class SyncJobs(BlockingResource[RemoteJobs]):
    """The jobs of a fleet."""

    create = waited(RemoteJobs.create)
    create_many = waited(RemoteJobs.create_many)
    submit = waited(RemoteJobs.submit)
    submit_many = waited(RemoteJobs.submit_many)
    get = waited(RemoteJobs.get)
    list = waited(RemoteJobs.list)
    all = walked(RemoteJobs.all)
    attempts = waited(RemoteJobs.attempts)
    counts = waited(RemoteJobs.counts)
    cancel = waited(RemoteJobs.cancel)
    retry = waited(RemoteJobs.retry)
    wait = waited(RemoteJobs.wait)
    result = waited(RemoteJobs.result)


class SyncOperations(BlockingResource[RemoteOperations]):
    """Bulk operations on jobs."""

    retry_jobs = waited(RemoteOperations.retry_jobs)
    cancel_jobs = waited(RemoteOperations.cancel_jobs)
    get = waited(RemoteOperations.get)
    list = waited(RemoteOperations.list)
    cancel = waited(RemoteOperations.cancel)
    wait = waited(RemoteOperations.wait)


class SyncSchedules(BlockingResource[RemoteSchedules]):
    """The schedules of a fleet."""

    def at_version(self, version: int) -> SyncSchedules:
        """The same schedules; changes raise `VersionMismatch` unless at this version."""
        return SyncSchedules(self._resource.at_version(version), self._thread)

    create = waited(RemoteSchedules.create)
    replace = waited(RemoteSchedules.replace)
    patch = waited(RemoteSchedules.patch)
    put = waited(RemoteSchedules.put)
    edit = waited(RemoteSchedules.edit)
    get = waited(RemoteSchedules.get)
    list = waited(RemoteSchedules.list)
    all = walked(RemoteSchedules.all)
    pause = waited(RemoteSchedules.pause)
    resume = waited(RemoteSchedules.resume)
    pause_tagged = waited(RemoteSchedules.pause_tagged)
    resume_tagged = waited(RemoteSchedules.resume_tagged)
    remove_tagged = waited(RemoteSchedules.remove_tagged)
    hand_back = waited(RemoteSchedules.hand_back)
    skip = waited(RemoteSchedules.skip)
    unskip = waited(RemoteSchedules.unskip)
    remove = waited(RemoteSchedules.remove)
    trigger = waited(RemoteSchedules.trigger)
    backfill = waited(RemoteSchedules.backfill)
    preview = waited(RemoteSchedules.preview)
    preview_rule = waited(RemoteSchedules.preview_rule)
    ticks = waited(RemoteSchedules.ticks)
    explain = waited(RemoteSchedules.explain)


class SyncQueues(BlockingResource[RemoteQueues]):
    """The queues of a fleet."""

    list = waited(RemoteQueues.list)
    get = waited(RemoteQueues.get)
    pause = waited(RemoteQueues.pause)
    resume = waited(RemoteQueues.resume)


class SyncNodes(BlockingResource[RemoteNodes]):
    """The processes of a fleet."""

    list = waited(RemoteNodes.list)
    get = waited(RemoteNodes.get)
    drain = waited(RemoteNodes.drain)


class SyncElections(BlockingResource[RemoteElections]):
    """Who leads, who led, and how to hand over."""

    list = waited(RemoteElections.list)
    get = waited(RemoteElections.get)
    history = waited(RemoteElections.history)
    resign = waited(RemoteElections.resign)


class SyncConfiguration(BlockingResource[RemoteConfiguration]):
    """Small values that a fleet shares."""

    get = waited(RemoteConfiguration.get)
    put = waited(RemoteConfiguration.put)
    delete = waited(RemoteConfiguration.delete)


class SyncTokens(BlockingResource[RemoteTokens]):
    """The tokens of the HTTP API."""

    create = waited(RemoteTokens.create)
    list = waited(RemoteTokens.list)
    revoke = waited(RemoteTokens.revoke)


class SyncOverview(BlockingResource[RemoteOverview]):
    """How a whole fleet and its schedules stand."""

    get = waited(RemoteOverview.get)
    history = waited(RemoteOverview.history)
    schedules = waited(RemoteOverview.schedules)
    timeline = waited(RemoteOverview.timeline)
    errors = waited(RemoteOverview.errors)
    backends = waited(RemoteOverview.backends)


class SyncAudit(BlockingResource[RemoteAudit]):
    """Who changed what, and why."""

    list = waited(RemoteAudit.list)
    all = walked(RemoteAudit.all)


class SyncEvents(BlockingResource[RemoteEvents]):
    """What happens in a fleet, as it happens."""

    follow = walked(RemoteEvents.follow)


class SyncClient(BlockingResource[RemoteFleet]):
    """`Client` without `await`, for scripts and for web apps without an event loop.

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
        client = RemoteFleet(url, token, timeout=timeout, retries=retries, tls=tls, reason=reason)
        super().__init__(client, LoopThread("drumbeat-client", "use Client and await its calls"))
        thread = self._thread
        self.jobs = SyncJobs(client.jobs, thread)
        self.operations = SyncOperations(client.operations, thread)
        self.schedules = SyncSchedules(client.schedules, thread)
        self.queues = SyncQueues(client.queues, thread)
        self.nodes = SyncNodes(client.nodes, thread)
        self.elections = SyncElections(client.elections, thread)
        self.configuration = SyncConfiguration(client.configuration, thread)
        self.tokens = SyncTokens(client.tokens, thread)
        self.audit = SyncAudit(client.audit, thread)
        self.overview = SyncOverview(client.overview, thread)
        self.events = SyncEvents(client.events, thread)

    def __repr__(self) -> str:
        return f"<SyncClient {self.url!r}>"

    @property
    def url(self) -> str:
        """The URL of the server."""
        return self._resource.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. The client cannot be used after that."""
        with suppress(NotRunning):  # it was closed before
            self._thread.call(self._resource.close)
        self._thread.close()

    health = waited(RemoteFleet.health)
    now = waited(RemoteFleet.now)
    settings = waited(RemoteFleet.settings)
    tasks = waited(RemoteFleet.tasks)
