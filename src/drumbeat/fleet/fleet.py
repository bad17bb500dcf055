"""The protocol `Fleet`: every noun, and what the node that answers tells of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from drumbeat.fleet.audit import FleetAudit
from drumbeat.fleet.configuration import FleetConfiguration
from drumbeat.fleet.elections import FleetElections
from drumbeat.fleet.endpoint import endpoint
from drumbeat.fleet.events import FleetEvents
from drumbeat.fleet.jobs import FleetJobs
from drumbeat.fleet.nodes import FleetNodes
from drumbeat.fleet.operations import FleetOperations
from drumbeat.fleet.overview import FleetOverview
from drumbeat.fleet.queues import FleetQueues
from drumbeat.fleet.schedules import FleetSchedules
from drumbeat.fleet.tokens import FleetTokens
from drumbeat.wire.entry import SettingView
from drumbeat.wire.health import HealthView
from drumbeat.wire.task import TaskView


class Fleet(Protocol):
    """Everything that may be asked of a fleet.

    Every change takes a `reason` for the audit log and is recorded there before it is made. A
    change that cannot be recorded is not made. Submissions are not recorded. If a change raises
    `Unavailable`, it may or may not have been made; after any other error nothing was changed.
    """

    @property
    def jobs(self) -> FleetJobs: ...

    @property
    def operations(self) -> FleetOperations: ...

    @property
    def schedules(self) -> FleetSchedules: ...

    @property
    def queues(self) -> FleetQueues: ...

    @property
    def nodes(self) -> FleetNodes: ...

    @property
    def elections(self) -> FleetElections: ...

    @property
    def configuration(self) -> FleetConfiguration: ...

    @property
    def tokens(self) -> FleetTokens: ...

    @property
    def audit(self) -> FleetAudit: ...

    @property
    def events(self) -> FleetEvents: ...

    @property
    def overview(self) -> FleetOverview: ...

    async def health(self) -> HealthView:
        """The health of the node that answers. It is returned, not raised, if unhealthy."""
        ...

    async def now(self) -> datetime:
        """The fleet's time: the store's clock locally, a server's clock to the second remotely."""
        ...

    @endpoint("GET /settings", "Show the settings of this server, with secrets masked")
    async def settings(self) -> Mapping[str, SettingView]:
        """The settings of the node that answers, by name, with secrets masked."""
        ...

    @endpoint("GET /tasks", "List the tasks that this server knows, with their parameters")
    async def tasks(self) -> Sequence[TaskView]:
        """The tasks that the node that answers knows, by name, with their parameters."""
        ...
