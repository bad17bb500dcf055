"""The table of all routes."""

from __future__ import annotations

from drumbeat.api.http.route import AnyRoute
from drumbeat.api.routes import (
    audit,
    cluster,
    configuration,
    document,
    elections,
    events,
    jobs,
    login,
    nodes,
    operations,
    probes,
    queues,
    schedule_changes,
    schedules,
    tokens,
)

TABLE: tuple[AnyRoute, ...] = (
    *jobs.ROUTES,
    *operations.ROUTES,
    *schedules.ROUTES,
    *schedule_changes.ROUTES,
    *queues.ROUTES,
    *nodes.ROUTES,
    *elections.ROUTES,
    *configuration.ROUTES,
    *events.ROUTES,
    *cluster.ROUTES,
    *probes.ROUTES,
    *login.ROUTES,
    *tokens.ROUTES,
    *audit.ROUTES,
    *document.ROUTES,
)

OF_WORKERS: tuple[AnyRoute, ...] = (*cluster.ROUTES, *probes.ROUTES)
"""The routes of a worker that does not serve the API."""
