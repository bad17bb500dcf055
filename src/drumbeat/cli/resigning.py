"""Resigning from afar: how the leader is asked to let another lead.

Only the leader itself can end its term soundly: were the lease taken from it, it would believe in
it until its next renewal, while another leads already. So it is asked, and `engine.resignation`
heeds that.
"""

from __future__ import annotations

from drumbeat.app import Drumbeat
from drumbeat.engine.patience import within
from drumbeat.engine.resignation import request_for
from drumbeat.engine.runtime import SystemClock
from drumbeat.model.errors import WaitTimeout
from drumbeat.model.lease import Lease

LOOK_EVERY = 0.1
SOON = 6.0
"""Seconds after which nobody leading is an answer too: there may be no other node."""


async def ask_to_resign(app: Drumbeat, patience: float) -> tuple[Lease | None, Lease | None]:
    """Who led, and who leads now; both None if nobody led.

    `WaitTimeout` if the leader still leads after so many seconds.
    """
    before = await app.leadership.leader()
    if before is None:
        return None, None
    key, value = request_for(before)
    await app.config.put(key, value)
    clock = SystemClock()
    try:
        async with within(clock, patience):
            after = await app.leadership.leader()
            while _same(before, after):
                await clock.sleep(LOOK_EVERY)
                after = await app.leadership.leader()
    except TimeoutError:
        raise WaitTimeout(
            f"{before.holder} was asked to resign and still leads after {patience:g} s; "
            f"is it alive, and of this version?"
        ) from None
    until = clock.elapsed() + min(SOON, patience)
    while after is None and clock.elapsed() < until:
        await clock.sleep(LOOK_EVERY)
        after = await app.leadership.leader()
    return before, after


def _same(before: Lease, after: Lease | None) -> bool:
    return after is not None and (before.domain, before.token) == (after.domain, after.token)
