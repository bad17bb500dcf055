"""The bulk operations of a remote fleet."""

from __future__ import annotations

from drumbeat.fleet.operations import FleetOperations
from drumbeat.fleet.remote.job_wait import finished_within
from drumbeat.fleet.remote.resource import RemoteResource
from drumbeat.model.time.duration import Duration
from drumbeat.wire.operation import OperationView


class RemoteOperations(RemoteResource, FleetOperations):
    """Implements `FleetOperations`, with a wait for the end of one."""

    async def wait(self, operation_id: int, timeout: Duration | None = None) -> OperationView:
        """The operation once it has ended; `WaitTimeout` if it has not within this time."""
        await self.get(operation_id)  # an error about an operation, and not about a job
        what = f"operation {operation_id} did not end"
        await finished_within(self._transport, operation_id, timeout, what)
        return await self.get(operation_id)
