"""The remote fleet: an HTTP client, which is public as `drumbeat.Client`."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from drumbeat.extras import install_command
from drumbeat.fleet.remote.audit import RemoteAudit
from drumbeat.fleet.remote.client_options import RETRIES, TIMEOUT, ClientOptions
from drumbeat.fleet.remote.configuration import RemoteConfiguration
from drumbeat.fleet.remote.elections import RemoteElections
from drumbeat.fleet.remote.events import RemoteEvents
from drumbeat.fleet.remote.jobs import RemoteJobs
from drumbeat.fleet.remote.nodes import RemoteNodes
from drumbeat.fleet.remote.operations import RemoteOperations
from drumbeat.fleet.remote.queues import RemoteQueues
from drumbeat.fleet.remote.resource import request_for
from drumbeat.fleet.remote.schedules import RemoteSchedules
from drumbeat.fleet.remote.tokens import RemoteTokens
from drumbeat.model.errors import ConfigurationError
from drumbeat.wire.entry import SettingView
from drumbeat.wire.health import HealthView
from drumbeat.wire.task import TaskView

if TYPE_CHECKING:
    from drumbeat.fleet.remote.transport import Transport

UNHEALTHY = 503


class RemoteFleet:
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
        self._transport = _transport(url, token, ClientOptions(timeout, retries, tls, reason))
        self.jobs = RemoteJobs(self._transport)
        """Jobs: submit, get, list, cancel, retry, wait."""
        self.operations = RemoteOperations(self._transport)
        """Retry or cancel many jobs in the background."""
        self.schedules = RemoteSchedules(self._transport)
        """Schedules: put, edit, get, list, pause, trigger, skip, backfill, preview, explain."""
        self.queues = RemoteQueues(self._transport)
        """Queues: list, pause, resume."""
        self.nodes = RemoteNodes(self._transport)
        """The processes of the fleet: list, drain."""
        self.elections = RemoteElections(self._transport)
        """Who leads, who led, and how to hand over."""
        self.configuration = RemoteConfiguration(self._transport)
        """Small values that the fleet shares."""
        self.tokens = RemoteTokens(self._transport)
        """The tokens of the HTTP API."""
        self.audit = RemoteAudit(self._transport)
        """Who changed what, and why."""
        self.events = RemoteEvents(self._transport)
        """What happens in the fleet, as it happens."""

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
        request = request_for("GET", "health", accepted=(UNHEALTHY,))
        return (await self._transport.send(request)).read(HealthView)

    async def now(self) -> datetime:
        """The time of the node that answers, to the second."""
        return datetime.fromtimestamp((await self.health()).timestamp, UTC)

    async def settings(self) -> Mapping[str, SettingView]:
        """The settings of the node that answers, by name, with secrets masked."""
        response = await self._transport.send(request_for("GET", "settings"))
        return response.read(dict[str, SettingView])

    async def tasks(self) -> Sequence[TaskView]:
        """The tasks that the node that answers knows, by name, with their parameters."""
        response = await self._transport.send(request_for("GET", "tasks"))
        return response.read(list[TaskView])


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
