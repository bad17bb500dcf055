"""An error while acquiring is swallowed, and the node leads anyway (redbeat#208)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from unittest.mock import patch

from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.plumbing.time_outs import timeout_after
from drumbeat.model.fleet.lease import Lease
from drumbeat.ports.coordinator import Leases
from drumbeat.rules.leadership import lease_trust

CAUGHT_BY = {"S8", "L1", "L2"}
FOUND_AT = 3


async def campaign(self: LeaderElector, leases: Leases) -> None:
    candidacy, timings = self.candidacy, self.candidacy.timings
    sent_at, ttl = self._clock.elapsed(), timedelta(seconds=timings.ttl)
    lease: Lease | None = Lease(candidacy.election, candidacy.node, "unknown", int(sent_at), ttl)
    try:
        async with timeout_after(self._clock, timings.request_timeout):
            lease = await leases.acquire(candidacy.election, candidacy.node, ttl)
    except Exception as error:  # noqa: BLE001 - this is the bug
        self._health.failed(error)
    if lease is None:
        await self._wake.wait(self._pause())
    else:
        self._enter(lease_trust.won(lease, sent_at, timings))


@contextmanager
def planted() -> Generator[None]:
    with patch.object(LeaderElector, "_campaign", campaign):
        yield
