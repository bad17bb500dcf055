"""The parts of a remote fleet that have only the operations of their protocol, or little more."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from drumbeat.fleet.audit import FleetAudit
from drumbeat.fleet.configuration import FleetConfiguration
from drumbeat.fleet.elections import FleetElections
from drumbeat.fleet.nodes import FleetNodes
from drumbeat.fleet.overview import FleetOverview
from drumbeat.fleet.queues import FleetQueues
from drumbeat.fleet.remote.resource import RemoteResource, every_page
from drumbeat.fleet.tokens import FleetTokens
from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.wire.audit import AuditView


class RemoteQueues(RemoteResource, FleetQueues):
    """The queues of a fleet: list, pause, resume."""


class RemoteNodes(RemoteResource, FleetNodes):
    """The processes of a fleet: list, drain."""


class RemoteElections(RemoteResource, FleetElections):
    """Who leads, who led, and how to hand over."""


class RemoteConfiguration(RemoteResource, FleetConfiguration):
    """Small values that a fleet shares."""


class RemoteTokens(RemoteResource, FleetTokens):
    """The tokens of the HTTP API. All of it needs the scope admin."""


class RemoteOverview(RemoteResource, FleetOverview):
    """How a whole fleet and its schedules stand."""


class RemoteAudit(RemoteResource, FleetAudit):
    """Who changed what, and why."""

    def all(self, wanted: AuditFilter | None = None) -> AsyncGenerator[AuditView]:
        """All entries that match, newest first, fetched page by page."""
        return every_page(lambda page: self.list(wanted, page))
