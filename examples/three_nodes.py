"""Three nodes in one process and in virtual time: ten minutes of a fleet in a second.

The example kills one leader, pauses the next, and at the end compares what was due with what ran.
Use `drumbeat.testing.Cluster` like this in the tests of your own app. `drumbeat demo` does the same
with real processes and real time.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from drumbeat import Context, Drumbeat, every
from drumbeat.model.schedules.plan import Outcome
from drumbeat.testing import Cluster

SCHEDULES = 5
JOBS = 2_000
TTL = 10.0


@dataclass
class Record:
    """What the handlers recorded themselves, outside of Drumbeat."""

    ticks: Counter[tuple[str, datetime]]
    jobs: Counter[int]


def declare(app: Drumbeat, record: Record) -> None:
    """Declare the schedules and tasks of every node."""

    def beat(number: int) -> None:
        name = f"beat-{number}"

        @app.scheduled(every(seconds=1), name=name, misfire="all", overlap="allow")
        async def note(ctx: Context) -> None:
            assert ctx.tick_at is not None
            record.ticks[name, ctx.tick_at] += 1

    for number in range(SCHEDULES):
        beat(number)

    @app.task
    async def work(number: int) -> None:
        record.jobs[number] += 1


def say(cluster: Cluster, sentence: str) -> None:
    """Print a line with the virtual time."""
    print(f"{cluster.clock.now():%H:%M:%S}  {sentence}", flush=True)


async def fail_over(cluster: Cluster, sentence: str, lost: Drumbeat) -> float:
    """Wait for another leader; return the seconds that it took."""
    say(cluster, f"{lost.settings.instance_id} {sentence}")
    start = cluster.clock.elapsed()
    await cluster.advance(0.1)
    while (leader := cluster.leader) is None or leader is lost:
        await cluster.advance(0.1)
    seconds = cluster.clock.elapsed() - start
    say(
        cluster,
        f"{leader.settings.instance_id} leads at epoch {leader.leadership.epoch}, "
        f"{seconds:.1f} s later",
    )
    return seconds


async def main() -> int:
    """Run the example, then check its result."""
    logging.getLogger("drumbeat").setLevel(logging.ERROR)  # lost leadership is expected here
    record = Record(Counter(), Counter())
    async with Cluster(lambda app: declare(app, record), lease_ttl=TTL) as cluster:
        leader = await cluster.wait_for_leader()
        say(cluster, f"three nodes; {leader.settings.instance_id} leads")
        client = cluster.client
        calls = [(number,) for number in range(JOBS)]
        submitted = len(await client.jobs.submit_many("work", calls))
        say(cluster, f"{submitted:,} jobs submitted, {SCHEDULES} schedules tick every second")
        await cluster.advance("3m")

        await cluster.kill(leader)
        killed = await fail_over(cluster, "was killed with everything it held", leader)
        await cluster.advance("2m")

        sleeper = await cluster.wait_for_leader()
        await cluster.freeze(sleeper)
        asleep = await fail_over(cluster, "was paused while it led", sleeper)
        await cluster.advance("1m")
        await cluster.thaw(sleeper)
        say(cluster, f"{sleeper.settings.instance_id} woke up and knows that its term is over")
        await cluster.start(leader)
        say(cluster, f"{leader.settings.instance_id} is back, as a follower")
        await cluster.advance("4m")
        return await prove(cluster, record, max(killed, asleep))


async def prove(cluster: Cluster, record: Record, failover: float) -> int:
    """Compare what was due, what the ledger says, and what the handlers recorded."""
    due = fired = doubled = 0
    for number in range(SCHEDULES):
        name = f"beat-{number}"
        rows = [row for row in await cluster.ticks(name) if row.outcome is Outcome.FIRED]
        stored = await cluster.client.schedules.get(name)
        due += sum(
            1 for _ in stored.schedule.trigger.between(stored.created_at, cluster.clock.now())
        )
        fired += len({row.tick_at for row in rows})
        doubled += len(rows) - len({row.tick_at for row in rows})
    ran_twice = sum(count - 1 for count in record.ticks.values())
    lost = due - fired
    jobs_lost = JOBS - len(record.jobs)
    print(
        f"\nticks due {due:,}   fired {fired:,}   lost {lost}   doubled {doubled}"
        f"\njobs submitted {JOBS:,}   completed {len(record.jobs):,}   lost {jobs_lost}"
        f"\nhandler runs beyond one per tick {ran_twice}   slowest failover {failover:.1f} s"
        f" (TTL {TTL:.0f} s)"
        f"\n\n{lost} lost, {doubled} doubled"
    )
    return 0 if lost == doubled == jobs_lost == 0 and failover <= TTL + 3 else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
