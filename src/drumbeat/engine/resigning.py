"""Resigning from afar: how the leader is asked to let another lead.

Only the leader itself can end its term soundly: were the lease taken from it, it would believe in
it until its next renewal, while another leads already. So it is asked, and `engine.resignation`
heeds that.
"""

from __future__ import annotations

from drumbeat.engine.patience import within
from drumbeat.engine.resignation import request_for
from drumbeat.engine.standing import Standing
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.lease import Lease
from drumbeat.ports.clock import Clock
from drumbeat.ports.coordinator import Configuration

LOOK_EVERY = 0.1
SOON = 6.0
"""Seconds after which nobody leading is an answer too: there may be no other node."""


class Resigning:
    """Asks whoever leads to resign."""

    def __init__(self, standing: Standing, configuration: Configuration, clock: Clock) -> None:
        self._standing = standing
        self._configuration = configuration
        self._clock = clock

    async def ask(self, patience: float) -> tuple[Lease | None, Lease | None]:
        """Who led, and who leads now; both None if nobody led.

        `WaitTimeout` if the leader still leads after so many seconds.
        """
        before = await self._standing.leader()
        if before is None:
            return None, None
        key, value = request_for(before)
        await self._configuration.put(key, value)
        try:
            async with within(self._clock, patience):
                after = await self._standing.leader()
                while _same(before, after):
                    await self._clock.sleep(LOOK_EVERY)
                    after = await self._standing.leader()
        except TimeoutError:
            raise WaitTimeout(
                f"{before.holder} was asked to resign and still leads after {patience:g} s; "
                f"is it alive, and of this version?"
            ) from None
        until = self._clock.elapsed() + min(SOON, patience)
        while after is None and self._clock.elapsed() < until:
            await self._clock.sleep(LOOK_EVERY)
            after = await self._standing.leader()
        return before, after


def _same(before: Lease, after: Lease | None) -> bool:
    return after is not None and (before.domain, before.token) == (after.domain, after.token)
