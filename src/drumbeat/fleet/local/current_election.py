"""The view of the election of the schedulers, as it stands now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.wire.election import ElectionView, election_view

if TYPE_CHECKING:
    from drumbeat.fleet.local.services import Services


async def current_election(services: Services) -> ElectionView:
    """The election of the schedulers; with the rest of the lease if this node leads."""
    lease = await services.reachability.leader()
    view = election_view(SCHEDULER, lease, await services.store.fence.read(SCHEDULER))
    if not services.leadership.is_leader:
        return view
    remaining = services.leadership.lease_remaining
    return replace(view, is_leader=True, lease_remaining_seconds=remaining)
