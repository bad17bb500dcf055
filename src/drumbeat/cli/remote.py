"""Remote: the commands' questions, answered by a server over HTTP."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from drumbeat.cli.asked import Definition, Order
from drumbeat.cli.checks import Check
from drumbeat.client.audit import AuditLog
from drumbeat.client.client import Client
from drumbeat.client.jobs import Jobs
from drumbeat.client.leadership import Leadership
from drumbeat.client.operations import Operations
from drumbeat.client.queues import QueuesOfServer
from drumbeat.client.schedules import Schedules
from drumbeat.engine.task import BUILT_IN
from drumbeat.model.errors import Conflict, DrumbeatError, NotFound
from drumbeat.model.explanation import Explanation
from drumbeat.model.ids import NodeId
from drumbeat.model.job import Job, JobFilter, Status
from drumbeat.model.node import NodeRecord
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.plan import AlreadyFired, Backfilled, Fire
from drumbeat.model.schedule import StoredSchedule
from drumbeat.model.token import NameTaken, Scope, TokenRecord
from drumbeat.model.zones import zone as zone_named

UNCHECKED = (
    "The server does not know the task: the arguments go unchecked, "
    "and the task's own options do not apply."
)
HERE = Path("/etc/localtime")
ZONES = "/zoneinfo/"


class RemoteTokens:
    """The tokens of a server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(
        self, name: str, scope: Scope, lifetime: timedelta | None
    ) -> tuple[TokenRecord, str] | NameTaken:
        """A new token with its secret."""
        until = None if lifetime is None else await self._client.now() + lifetime
        try:
            made = await self._client.tokens.create(name, scope, until)
        except Conflict:
            return NameTaken(name)
        return made.record, made.token

    async def list(self) -> Sequence[TokenRecord]:
        """All tokens."""
        return await self._client.tokens.list()

    async def revoke(self, name_or_id: str) -> TokenRecord | None:
        """Let nobody in by it any more; None: there is none."""
        try:
            return await self._client.tokens.revoke(name_or_id)
        except NotFound:
            return None


class Remote:
    """A server. It redacts secrets and keeps the audit log itself."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.in_memory = False
        self.has_coordinator = True
        self.tokens = RemoteTokens(client)

    @property
    def jobs(self) -> Jobs:
        """Jobs."""
        return self._client.jobs

    @property
    def schedules(self) -> Schedules:
        """Schedules."""
        return self._client.schedules

    @property
    def queues(self) -> QueuesOfServer:
        """Queues."""
        return self._client.queues

    @property
    def operations(self) -> Operations:
        """Changes of many jobs."""
        return self._client.operations

    @property
    def leadership(self) -> Leadership:
        """Leaders."""
        return self._client.leadership

    @property
    def audit(self) -> AuditLog:
        """The audit log."""
        return self._client.audit

    async def submit(self, order: Order) -> Job:
        """Submit a job; arguments of a task that the server does not know go unchecked."""
        return await self._client.jobs.submit(order.task, (), order.arguments, **order.options)

    async def unchecked(self, task: str) -> str | None:
        """Why nobody checks the arguments of a task, in a sentence; None: somebody does."""
        known = await self._client.tasks()
        return None if any(each.name == task for each in known) else UNCHECKED

    async def define(self, definition: Definition) -> StoredSchedule:
        """Create a schedule, or replace its definition."""
        return await self._client.schedules.put(
            definition.name,
            definition.trigger,
            definition.task,
            kwargs=definition.arguments,
            description=definition.description,
            **definition.options,
        )

    async def backfill(
        self, name: str, start: datetime, end: datetime | None, *, dry_run: bool
    ) -> Sequence[Backfilled | AlreadyFired | Fire]:
        """Fire past ticks that did not fire, up to now if no end is given."""
        return await self._client.schedules.backfill(name, start, end, dry_run=dry_run)

    async def explain(self, name: str, ticks: int, zone: tzinfo | None) -> Explanation:
        """Why a schedule did or did not run, with times in a zone (None: this machine's)."""
        return await self._client.schedules.explain(name, ticks, name_of(zone))

    async def nodes(self) -> Sequence[NodeRecord]:
        """The nodes of the fleet."""
        return await self._client.nodes()

    async def drain(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Ask nodes to finish their work and stop."""
        return await self._client.drain(nodes)

    async def now(self) -> datetime:
        """The server's time, to the second."""
        return await self._client.now()

    async def checks(self) -> Sequence[Check]:
        """Whether the server answers, and whether it is well."""
        health = await self._client.health()
        sound = health.status == "healthy"
        why = "" if sound else f": {health.reason}"
        seen = f"{health.instance_id} answers at {self._client.url}, {health.status}{why}"
        return [Check("server", sound, seen)]

    async def unknown_tasks(self, limit: int) -> Sequence[str] | None:
        """Tasks that wait and that the server does not know; None: it knows none at all.

        It looks at the newest thousand queued jobs.
        """
        known = {task.name for task in await self._client.tasks()}
        if not known:
            return None
        queued = JobFilter(statuses=frozenset({Status.QUEUED}))
        waiting = (await self._client.jobs.list(queued, PageRequest(LARGEST_PAGE))).items
        unknown = {job.task for job in waiting if not job.task.startswith(BUILT_IN)} - known
        return sorted(unknown)[:limit]

    def secrets(self, task: str) -> Collection[str]:
        """None: what the server sends is redacted already."""
        del task
        return ()


def name_of(zone: tzinfo | None) -> str:
    """The name by which a server knows a zone; UTC for one that has no name there."""
    if isinstance(zone, ZoneInfo):
        return zone.key or "UTC"
    if zone is UTC:
        return "UTC"
    named = os.environ.get("TZ", "").lstrip(":")
    if not named and HERE.is_symlink():
        named = str(HERE.resolve()).partition(ZONES)[2]
    try:
        zone_named(named or "UTC")
    except DrumbeatError:
        return "UTC"
    return named or "UTC"
