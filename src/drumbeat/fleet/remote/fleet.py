"""The remote fleet: an HTTP client, which is public as `drumbeat.Client`."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from drumbeat.extras import install_command
from drumbeat.fleet.endpoint import endpoint_of
from drumbeat.fleet.fleet import Fleet
from drumbeat.fleet.remote.client_options import RETRIES, TIMEOUT, ClientOptions
from drumbeat.fleet.remote.events import RemoteEvents
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
from drumbeat.fleet.remote.request import Request
from drumbeat.fleet.remote.resource import RemoteResource, part
from drumbeat.fleet.remote.schedules import RemoteSchedules
from drumbeat.model.errors import ConfigurationError
from drumbeat.wire.entry import SettingView
from drumbeat.wire.health import HealthView
from drumbeat.wire.task import TaskView

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport

UNHEALTHY = 503
SETTINGS, TASKS = endpoint_of(Fleet.settings), endpoint_of(Fleet.tasks)


class RemoteFleet(RemoteResource):
    """A fleet, over the HTTP API of one of its nodes.

    ```python
    async with Client("http://127.0.0.1:8080", token) as client:
        job = await client.jobs.submit("greet", kwargs={"name": "Anna"})
        print(await client.jobs.result(job.id))
    ```
    `timeout` is the number of seconds in which the server has to respond. Requests that are safe
    to repeat are sent again up to `retries` times if it does not. `reason` is recorded in the audit
    log with every change that has no reason of its own.
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
        transport = _transport(url, token, ClientOptions(timeout, retries, tls, reason))
        super().__init__(transport)
        self.jobs = part(RemoteJobs, transport)
        self.operations = part(RemoteOperations, transport)
        self.schedules = part(RemoteSchedules, transport)
        self.queues = part(RemoteQueues, transport)
        self.nodes = part(RemoteNodes, transport)
        self.elections = part(RemoteElections, transport)
        self.configuration = part(RemoteConfiguration, transport)
        self.tokens = part(RemoteTokens, transport)
        self.audit = part(RemoteAudit, transport)
        self.overview = part(RemoteOverview, transport)
        self.events = RemoteEvents(transport)

    def __repr__(self) -> str:
        return f"<Client {self.url!r}>"

    @property
    def url(self) -> str:
        """The URL of the server."""
        return self._transport.url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The client cannot be used after that."""
        await self._transport.close()

    async def health(self) -> HealthView:
        """The health of the node that answers. It is returned, not raised, if unhealthy."""
        request = Request("GET", "/health", accepted=(UNHEALTHY,))
        return (await self._transport.send(request)).read(HealthView)

    async def now(self) -> datetime:
        """The time of the node that answers, to the second."""
        return datetime.fromtimestamp((await self.health()).timestamp, UTC)

    async def settings(self) -> Mapping[str, SettingView]:
        """The settings of the node that answers, by name, with secrets masked."""
        settings: Mapping[str, SettingView] = await self._call(SETTINGS, {})
        return settings

    async def tasks(self) -> Sequence[TaskView]:
        """The tasks that the node that answers knows, by name, with their parameters."""
        tasks: Sequence[TaskView] = await self._call(TASKS, {})
        return tasks


Client = RemoteFleet
"""The public name."""


def _transport(url: str, token: str | None, options: ClientOptions) -> Transport:
    try:
        from drumbeat.fleet.remote.transport import Transport  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError as missing:
        if missing.name not in ("aiohttp", "yarl"):
            raise
        raise ConfigurationError(
            f"the client needs the extra client: {install_command('client')}"
        ) from None
    return Transport(url, token, options)
