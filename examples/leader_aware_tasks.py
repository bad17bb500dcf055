"""Two schedulers of which only the leader works: a TTL, a renewal interval, resignation, failover.

Each instance has an election, and a scheduler around its own app, which works only while the
election is won. The leader runs its job, a job of the follower waits. The leader resigns, the other
one takes over and does what waited. That one stops, and the first one leads again.

    python examples/leader_aware_tasks.py
    python examples/leader_aware_tasks.py mongodb://localhost:27017/app
    COORDINATOR=redis://localhost:6379 python examples/leader_aware_tasks.py
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from drumbeat import Drumbeat, LeaderElection
from drumbeat.electors import LeaderAwareScheduler

TTL = "3s"
RENEW_INTERVAL = "1s"
PATIENCE = "60s"


class Instance:
    """One instance: its election, and a scheduler that works only while it is won."""

    def __init__(self, name: str, coordinator: str) -> None:
        self.name = name
        self.election = LeaderElection(
            name, coordinator, name="example", ttl=TTL, renew_interval=RENEW_INTERVAL
        )
        self.app = Drumbeat("memory://", instance_id=name, environment={}, grace=1)
        self.scheduler = LeaderAwareScheduler(self.election, self.app)

        @self.app.task(name="example-task")
        async def example_task(number: int) -> str:
            return f"{name} did task {number}"

    async def work(self, number: int) -> None:
        """Submit a job, and print its result."""
        job = await self.app.jobs.submit("example-task", [number])
        print(await self.app.jobs.result(job, PATIENCE), flush=True)


async def tell(coordinator: str) -> int:
    """Run the example, and check its result."""
    first, second = Instance("instance-1", coordinator), Instance("instance-2", coordinator)
    await first.scheduler.start()
    await first.election.wait(PATIENCE)
    await second.scheduler.start()
    idle = await second.app.jobs.submit("example-task", [0])
    await first.work(1)
    assert not await second.election.is_leader()

    tokens = [first.election.token]
    await first.election.resign()
    print(f"{first.name} resigned", flush=True)
    await second.election.wait(PATIENCE)
    print(await second.app.jobs.result(idle, PATIENCE), flush=True)
    await second.work(2)

    tokens.append(second.election.token)
    await first.election.elect()
    await second.scheduler.stop()
    print(f"{second.name} stopped", flush=True)
    await first.election.wait(PATIENCE)
    await first.work(3)
    tokens.append(first.election.token)
    await first.scheduler.stop()
    terms = [token for token in tokens if token is not None]
    rising = len(terms) == 3 and terms == sorted(set(terms))
    print(f"the tokens of the three terms rise: {rising}")
    return 0 if rising else 1


def main() -> int:
    """Take the coordinator from the command line or the environment, else use memory."""
    logging.basicConfig(level=logging.ERROR)
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("COORDINATOR")
    return asyncio.run(tell(given or "memory://"))


if __name__ == "__main__":
    sys.exit(main())
