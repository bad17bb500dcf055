"""Routes for health, metrics and the leader."""

from __future__ import annotations

from typing import Any

from drumbeat.api.access.peer import text
from drumbeat.api.http.call import Call, Nothing
from drumbeat.api.http.problem import Problem
from drumbeat.api.http.response import Response, json_response
from drumbeat.api.http.route import AnyRoute, Route, read_route
from drumbeat.fleet.local.health import HEALTHY, health_view
from drumbeat.model.fleet.token import Scope
from drumbeat.model.ids import label_of
from drumbeat.wire.health import HealthView, LeaderView, MetricsView

PROMETHEUS = ("text/plain", "application/openmetrics-text")


async def health(call: Call[Nothing, Any]) -> Response:
    """200 if the node is healthy, 503 and the reason if not."""
    detailed = call.caller.may(Scope.VIEWER)
    view = await health_view(call.fleet.services, detailed=detailed)
    return json_response(view, 200 if view.status == HEALTHY else 503)


async def metrics(call: Call[Nothing, Any]) -> Response:
    """A few numbers, or everything in the words of Prometheus if the Accept header asks for it."""
    measured = call.fleet.services.metrics()
    if measured is None:
        raise Problem(503, "not-measured", "this node has no metrics: it serves no HTTP API")
    await measured.refresh()
    accept = text(call.headers, b"accept").lower()
    if any(kind in accept for kind in PROMETHEUS) and "application/json" not in accept:
        body, media_type = measured.text(accept)
        return Response(200, body, media_type)
    summary = measured.summary()
    if summary["pending_jobs"] is None:
        raise Problem(
            503,
            "store-unavailable",
            "the store does not answer, so the jobs cannot be counted",
            headers={"retry-after": "2"},
        )
    return json_response(summary)


async def leader(call: Call[Nothing, Any]) -> LeaderView:
    """The leader, as the coordinator has it."""
    services = call.fleet.services
    lease = await services.reachability.leader()
    return LeaderView(
        current_leader=None if lease is None else label_of(lease.holder),
        is_leader=services.leadership.is_leader,
        instance_id=label_of(services.node()),
    )


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/health",
        None,
        health,
        "Is the node healthy, and does it lead?",
        HealthView,
        also={503: HealthView},
        tells_more=True,
        without_store=True,
    ),
    read_route(
        "/metrics",
        "The state of the fleet in numbers, or all metrics for Prometheus",
        MetricsView,
        metrics,
        other_media_types=PROMETHEUS,
        without_store=True,
    ),
    read_route("/leader", "Who leads?", LeaderView, leader),
)
