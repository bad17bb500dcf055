"""The table of all routes."""

from __future__ import annotations

from drumbeat.api.fleet_routes import routes_of
from drumbeat.api.http.route import AnyRoute
from drumbeat.api.routes import cluster, document, events, login, probes
from drumbeat.fleet.audit import FleetAudit
from drumbeat.fleet.configuration import FleetConfiguration
from drumbeat.fleet.elections import FleetElections
from drumbeat.fleet.fleet import Fleet
from drumbeat.fleet.jobs import FleetJobs
from drumbeat.fleet.nodes import FleetNodes
from drumbeat.fleet.operations import FleetOperations
from drumbeat.fleet.overview import FleetOverview
from drumbeat.fleet.queues import FleetQueues
from drumbeat.fleet.schedules import FleetSchedules
from drumbeat.fleet.tokens import FleetTokens

TABLE: tuple[AnyRoute, ...] = (
    *routes_of(FleetJobs, "jobs"),
    *routes_of(FleetOperations, "operations"),
    *routes_of(FleetSchedules, "schedules"),
    *routes_of(FleetQueues, "queues"),
    *routes_of(FleetNodes, "nodes"),
    *routes_of(FleetElections, "elections"),
    *routes_of(FleetConfiguration, "configuration"),
    *routes_of(Fleet),
    *routes_of(FleetTokens, "tokens"),
    *routes_of(FleetAudit, "audit"),
    *routes_of(FleetOverview, "overview"),
    *events.ROUTES,
    *cluster.ROUTES,
    *probes.ROUTES,
    *login.ROUTES,
    *document.ROUTES,
)

OF_WORKERS: tuple[AnyRoute, ...] = (*cluster.ROUTES, *probes.ROUTES)
"""The routes of a worker that does not serve the API."""
