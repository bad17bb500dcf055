"""The client: an app that runs elsewhere, asked over HTTP."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Self

from drumbeat.client.audit import AuditLog
from drumbeat.client.configuration import Configuration
from drumbeat.client.events import Events, ServerEvent
from drumbeat.client.jobs import Jobs
from drumbeat.client.leadership import Leadership
from drumbeat.client.manners import RETRIES, TIMEOUT, Manners
from drumbeat.client.moment import health_of, now_of
from drumbeat.client.operations import Operations
from drumbeat.client.queues import QueuesOfServer
from drumbeat.client.request import Request, body_of, path_of
from drumbeat.client.schedules import Schedules
from drumbeat.client.tokens import Tokens
from drumbeat.extras import install_command
from drumbeat.model.errors import ConfigurationError
from drumbeat.model.ids import NodeId
from drumbeat.model.node import NodeRecord
from drumbeat.wire.entry import SettingView
from drumbeat.wire.health import HealthView
from drumbeat.wire.node import DrainingView, NodeView, node_of
from drumbeat.wire.task import TaskView

if TYPE_CHECKING:
    from drumbeat.client.exchange import Exchange


class Client:
    """An app that runs elsewhere. Its calls are those of the app.

    ```python
    async with Client("http://127.0.0.1:8080", token) as client:
        job = await client.jobs.submit("greet", kwargs={"name": "Anna"})
        print(await client.jobs.result(job.id))
    ```
    `timeout` is how many seconds the server has for an answer. What is safe to repeat is sent
    again up to `retries` times when the server is away. `reason` is for the audit log, with every
    change that gives none of its own.
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
        self._exchange = _exchange(url, token, Manners(timeout, retries, tls, reason))
        self.jobs = Jobs(self._exchange)
        """Jobs: submit, get, list, cancel, retry, wait."""
        self.schedules = Schedules(self._exchange)
        """Schedules: put, get, list, pause, trigger, skip, backfill, preview, explain."""
        self.queues = QueuesOfServer(self._exchange)
        """Queues: list, pause, resume."""
        self.operations = Operations(self._exchange)
        """Changes of many jobs, which the leading node does in the background."""
        self.leadership = Leadership(self._exchange)
        """Who leads, who did, and how another is let."""
        self.config = Configuration(self._exchange)
        """Small values that the fleet shares."""
        self.audit = AuditLog(self._exchange)
        """Who changed what."""
        self.tokens = Tokens(self._exchange)
        """Who may use the HTTP API."""

    def __repr__(self) -> str:
        return f"<Client {self.url!r}>"

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._exchange.url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The client is of no use after that."""
        await self._exchange.close()

    async def nodes(self) -> Sequence[NodeRecord]:
        """The nodes of the fleet, also those that are gone."""
        request = Request("GET", path_of("nodes"), [("all", "true")])
        views = (await self._exchange.ask(request)).read(list[NodeView])
        return [node_of(view) for view in views]

    async def drain(self, nodes: Sequence[str], reason: str = "") -> Sequence[NodeId]:
        """Ask nodes, by identity or label, to finish their work and stop; return who was asked.

        `NotFound` if no live node is named so.
        """
        asked: list[NodeId] = []
        for name in nodes:
            path = path_of("nodes", name, "drain")
            request = Request("POST", path, body=body_of({"reason": reason}), about=name)
            view = (await self._exchange.ask(request)).read(DrainingView)
            asked += [NodeId(node) for node in view.draining]
        return asked

    async def health(self) -> HealthView:
        """How the node that answers is, also if it is not well."""
        return await health_of(self._exchange)

    async def now(self) -> datetime:
        """The time of the node that answers, to the second."""
        return await now_of(self._exchange)

    async def settings(self) -> Mapping[str, SettingView]:
        """The settings of the node that answers, with secrets masked."""
        answer = await self._exchange.ask(Request("GET", path_of("settings")))
        return answer.read(dict[str, SettingView])

    async def tasks(self) -> Sequence[TaskView]:
        """The tasks that the node which answers knows, with what they take."""
        answer = await self._exchange.ask(Request("GET", path_of("tasks")))
        return answer.read(list[TaskView])

    def events(self, kinds: Collection[str] = (), last: str = "") -> AsyncGenerator[ServerEvent]:
        """What happens in the fleet, as it happens; after the event of that id, if one is given.

        When the connection breaks it goes on where it was. An event of the kind `reset` says that
        some were missed.
        """
        return Events(self._exchange, kinds, last).all()


def _exchange(url: str, token: str | None, manners: Manners) -> Exchange:
    try:
        from drumbeat.client.exchange import Exchange  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError as missing:
        if missing.name not in ("aiohttp", "yarl"):
            raise
        raise ConfigurationError(
            f"the client needs the extra client: {install_command('client')}"
        ) from None
    return Exchange(url, token, manners)
