"""The local fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from drumbeat.config import SETTINGS
from drumbeat.fleet.actor import Actor
from drumbeat.fleet.local.audit import AuditTrail, LocalAudit
from drumbeat.fleet.local.configuration import LocalConfiguration
from drumbeat.fleet.local.elections import LocalElections
from drumbeat.fleet.local.events.events import LocalEvents
from drumbeat.fleet.local.health import health_view
from drumbeat.fleet.local.jobs import LocalJobs
from drumbeat.fleet.local.nodes import LocalNodes
from drumbeat.fleet.local.operations import LocalOperations
from drumbeat.fleet.local.overview.overview import LocalOverview
from drumbeat.fleet.local.queues import LocalQueues
from drumbeat.fleet.local.schedules import LocalSchedules
from drumbeat.fleet.local.services import Services
from drumbeat.fleet.local.task_view import task_view
from drumbeat.fleet.local.tokens import LocalTokens
from drumbeat.wire.entry import SettingView
from drumbeat.wire.health import HealthView
from drumbeat.wire.task import TaskView

CODE = Actor("code")
"""Who acts if nobody is named."""


class LocalFleet:
    """Implements `Fleet` in this process: it validates, records changes and makes them.

    It allows everything. The HTTP API checks scopes before it calls it.
    """

    def __init__(self, services: Services, actor: Actor = CODE) -> None:
        self.services = services
        self.trail = AuditTrail(services.store, actor)
        self.jobs = LocalJobs(services, self.trail)
        self.operations = LocalOperations(services, self.trail)
        self.schedules = LocalSchedules(services, self.trail)
        self.queues = LocalQueues(services, self.trail)
        self.nodes = LocalNodes(services, self.trail)
        self.elections = LocalElections(services, self.trail)
        self.configuration = LocalConfiguration(services, self.trail)
        self.tokens = LocalTokens(services, self.trail)
        self.audit = LocalAudit(services)
        self.events = LocalEvents(services)
        self.overview = LocalOverview(services)

    def acting_as(self, actor: Actor) -> LocalFleet:
        """The same fleet, whose changes are recorded as those of the actor."""
        return LocalFleet(self.services, actor)

    async def health(self) -> HealthView:
        return await health_view(self.services)

    async def now(self) -> datetime:
        return await self.services.store.now()

    async def settings(self) -> Mapping[str, SettingView]:
        config = self.services.config
        return {
            each.name: SettingView(
                value=value
                if isinstance(value := getattr(config, each.name), int | None)
                else config.shown(each.name),
                origin=str(config.origins[each.name]) if each.name in config.origins else "default",
                variable=each.variables[0],
            )
            for each in SETTINGS
        }

    async def tasks(self) -> Sequence[TaskView]:
        registry = self.services.registry
        return [task_view(registry.get(name)) for name in sorted(registry.names)]
