"""The bulk operations of a remote fleet."""

from __future__ import annotations

from drumbeat.fleet.operations import FleetOperations
from drumbeat.fleet.remote.job_wait import finished_within
from drumbeat.fleet.remote.resource import RemoteResource
from drumbeat.model.errors import WaitTimeout
from drumbeat.wire.operation import OperationView


class RemoteOperations(RemoteResource, FleetOperations):
    """Implements `FleetOperations`, with a wait for the end of one."""

    async def wait(self, operation_id: int, timeout: float | None = None) -> OperationView:
        """The operation once it has ended; `WaitTimeout` if it has not within `timeout` seconds."""
        await self.get(operation_id)  # an error about an operation, and not about a job
        if await finished_within(self._transport, operation_id, timeout) is None:
            raise WaitTimeout(f"operation {operation_id} has not ended in {timeout:g} s")
        return await self.get(operation_id)
