"""The health of this node."""

from __future__ import annotations

from msgspec import UNSET

from drumbeat.fleet.local.phase import Phase
from drumbeat.fleet.local.services import Services
from drumbeat.model.ids import label_of
from drumbeat.wire.health import HealthView

HEALTHY, UNHEALTHY = "healthy", "unhealthy"


async def health_view(services: Services, *, detailed: bool = True) -> HealthView:
    """Whether the node is healthy and leads.

    Only with `detailed` it tells the registered tasks and the error of a backend.
    """
    store = await services.reachability.store_fault()
    coordinator = await services.reachability.coordinator_fault()
    queue = await services.reachability.queue_fault()
    reason = _reason(services.phase(), store, coordinator, detailed=detailed)
    electing = services.config.leader_election
    leads = services.leadership.is_leader
    return HealthView(
        status=HEALTHY if reason is None else UNHEALTHY,
        instance_id=label_of(services.node()),
        is_leader=leads,
        coordinator_health=coordinator is None,
        queue_health=queue is None,
        timestamp=int(services.runtime.clock.now().timestamp()),
        leader_election_enabled=electing,
        will_execute_tasks=leads or not electing,
        reason=reason or UNSET,
        registered_tasks=sorted(services.registry.names) if detailed else UNSET,
    )


def _reason(
    phase: Phase, store: str | None, coordinator: str | None, *, detailed: bool
) -> str | None:
    if phase is not Phase.RUNNING:
        return f"the node is {phase}"
    for name, fault in (("store", store), ("coordinator", coordinator)):
        if fault is not None:
            return f"the {name} does not answer" + (f": {fault}" if detailed else "")
    return None
