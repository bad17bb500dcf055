"""An error while acquiring is swallowed, and the node goes on as the leader (redbeat#208)."""

# pyright: reportPrivateUsage=false

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from unittest.mock import patch

from drumbeat.engine.elector import Elector
from drumbeat.engine.patience import within
from drumbeat.model.lease import Lease
from drumbeat.ports.coordinator import Leases
from drumbeat.ports.runtime import Isolated
from drumbeat.rules import leading

CAUGHT_BY = {"S8", "L1", "L2"}
FOUND_AT = 3


async def campaign(self: Elector, leases: Leases, isolated: Isolated) -> None:
    candidacy, timings = self.candidacy, self.candidacy.timings
    sent_at, ttl = self._clock.elapsed(), timedelta(seconds=timings.ttl)
    lease: Lease | None = Lease(candidacy.election, candidacy.node, "unknown", int(sent_at), ttl)
    try:
        async with within(self._clock, timings.request_timeout):
            lease = await leases.acquire(candidacy.election, candidacy.node, ttl)
    except Exception as error:  # noqa: BLE001 - this is the bug
        self._reach.failed(error)
    if lease is None:
        await self._wake.wait(self._pause())
    else:
        self._enter(leading.won(lease, sent_at, timings), isolated)


@contextmanager
def planted() -> Generator[None]:
    with patch.object(Elector, "_campaign", campaign):
        yield
