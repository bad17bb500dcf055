# pyright: reportPrivateUsage=false
"""A program that runs one job until it is told to stop. Run by `test_signals`.

Its first argument says what the job does then, its second how long it is given.
"""

from __future__ import annotations

import asyncio
import sys

from drumbeat import Context, Drumbeat, Retry
from drumbeat.model.events import NodeStarted

manner, grace = sys.argv[1:]
app = Drumbeat(
    "memory://", grace=float(grace), lease_ttl=2.0, heartbeat_every=0.1, node_lifetime=20
)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@app.task(retry=Retry.never())
async def work(ctx: Context) -> None:
    say("running")
    if manner == "drain":
        await app._state.backends.store.nodes.request_drain([app.id])
    await ctx.cancelled.wait()
    say(f"told: {ctx.cancelled.reason}")
    if manner in ("finish", "drain", "slow"):
        if manner == "slow":
            await asyncio.to_thread(sys.stdin.readline)
        ctx.finished()
        say("finished")
        return
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            say("interrupted")
            if manner != "deaf":
                raise


@app.on(NodeStarted)
async def begin(event: NodeStarted) -> None:
    await work.submit()


app.run()
say("stopped")
job = asyncio.run(app.jobs.get(1))
say(f"{job.status} after {job.attempt} attempts")
