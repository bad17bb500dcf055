"""Routes for queues."""

from __future__ import annotations

from drumbeat.api.http.route import AnyRoute, change_route, read_route
from drumbeat.wire.queue import QueueView

ROUTES: tuple[AnyRoute, ...] = (
    read_route(
        "/queues",
        "List queues with their depth, oldest age and rates",
        list[QueueView],
        lambda call: call.fleet.queues.list(),
    ),
    read_route(
        "/queues/{name}",
        "Show a queue",
        QueueView,
        lambda call: call.fleet.queues.get(call.path["name"]),
    ),
    change_route(
        "/queues/{name}/pause",
        "Pause a queue; running jobs continue",
        QueueView,
        lambda call: call.fleet.queues.pause(call.path["name"], call.body.reason),
        refuses=(),
    ),
    change_route(
        "/queues/{name}/resume",
        "Resume a queue",
        QueueView,
        lambda call: call.fleet.queues.resume(call.path["name"], call.body.reason),
        refuses=(),
    ),
)
