"""The cluster at a glance: health, metrics, who leads."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from drumbeat.api.answer import Answer, json_answer
from drumbeat.api.call import Call, Nothing
from drumbeat.api.condition import Phase
from drumbeat.api.desk import Desk
from drumbeat.api.peer import text
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.model.ids import label_of
from drumbeat.model.token import Scope
from drumbeat.wire.health import HealthView, LeaderView, MetricsView

PROMETHEUS = ("text/plain", "application/openmetrics-text")


async def health(call: Call[Nothing, Any]) -> Answer:
    """200 if the node is well, 503 and the reason if it is not."""
    desk, told = call.desk, call.caller.may(Scope.VIEWER)
    store = await desk.condition.store_fault()
    coordinator = await desk.condition.coordinator_fault()
    reason = _reason(desk.phase(), store, coordinator, told=told)
    electing = desk.config.leader_election
    leads = desk.standing.is_leader
    view = HealthView(
        status="healthy" if reason is None else "unhealthy",
        instance_id=label_of(desk.node()),
        is_leader=leads,
        coordinator_health=coordinator is None,
        timestamp=_now(desk),
        leader_election_enabled=electing,
        will_execute_tasks=leads or not electing,
        reason=reason or UNSET,
        registered_tasks=sorted(desk.registry.names) if told else UNSET,
    )
    return json_answer(view, 200 if reason is None else 503)


async def metrics(call: Call[Nothing, Any]) -> Answer:
    """A few numbers, or everything in the words of Prometheus if the Accept header asks for it."""
    measured = call.desk.metrics()
    if measured is None:
        raise Problem(503, "not-measured", "this node is not measured; start it with a door")
    await measured.refresh()
    accept = text(call.headers, b"accept").lower()
    if any(kind in accept for kind in PROMETHEUS) and "application/json" not in accept:
        body, media_type = measured.text(accept)
        return Answer(200, body, media_type)
    summary = measured.summary()
    if summary["pending_jobs"] is None:
        raise Problem(
            503,
            "store-unavailable",
            "the store does not answer, so nobody can tell how many jobs there are",
            headers={"retry-after": "2"},
        )
    return json_answer(summary)


async def leader(call: Call[Nothing, Any]) -> LeaderView:
    """Who leads, as the coordinator has it."""
    desk = call.desk
    lease = await desk.standing.leader()
    return LeaderView(
        current_leader=None if lease is None else label_of(lease.holder),
        is_leader=desk.standing.is_leader,
        instance_id=label_of(desk.node()),
    )


def _reason(phase: Phase, store: str | None, coordinator: str | None, *, told: bool) -> str | None:
    """What is wrong, in a sentence; the words of a backend only for those who may look."""
    if phase is not Phase.RUNNING:
        return f"the node is {phase}"
    for name, fault in (("store", store), ("coordinator", coordinator)):
        if fault is not None:
            return f"the {name} does not answer" + (f": {fault}" if told else "")
    return None


def _now(desk: Desk) -> int:
    return int(desk.runtime.clock.now().timestamp())


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/health",
        None,
        health,
        "Is the node well, and does it lead?",
        HealthView,
        also={503: HealthView},
        tells_more=True,
        without_store=True,
    ),
    Route(
        "GET",
        "/metrics",
        Scope.VIEWER,
        metrics,
        "The state of the fleet in numbers, or all metrics for Prometheus",
        MetricsView,
        other_media_types=PROMETHEUS,
        without_store=True,
    ),
    Route("GET", "/leader", Scope.VIEWER, leader, "Who leads?", LeaderView),
)
