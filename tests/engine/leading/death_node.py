"""A node as a process of its own, whose leases and heartbeats last longer than any test.

`python death_node.py STORE NAMESPACE LABEL ROLE...` prints a line for each event that matters.
"""

from __future__ import annotations

import asyncio
import sys

from drumbeat import Drumbeat
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.events import LeaderEvicted, LeadershipGained, LeadershipLost, NodeStarted
from drumbeat.model.jobs.retry import Retry


async def main() -> None:
    store, namespace, label, *roles = sys.argv[1:]
    app = Drumbeat(
        store,
        environment={},
        instance_id=label,
        namespace=namespace,
        lease_ttl=300,
        retry_interval=60,
        heartbeat_every=60,
        node_lifetime=300,
    )

    @app.task(retry=Retry.linear(3, 0.0))
    async def stay() -> None:
        say("runs")
        await SystemClock().sleep(600)

    @app.on(NodeStarted)
    def started(_: NodeStarted) -> None:
        say("started")

    @app.on(LeadershipGained)
    def gained(_: LeadershipGained) -> None:
        say("leads")

    @app.on(LeadershipLost)
    def lost(event: LeadershipLost) -> None:
        say(f"lost {event.reason}")

    @app.on(LeaderEvicted)
    def evicted(_: LeaderEvicted) -> None:
        say("evicts")

    await app.start(roles)
    await asyncio.Event().wait()


def say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


asyncio.run(main())
