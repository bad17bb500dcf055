"""Floods: a store that is far away, and many jobs at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from drumbeat import Context, Drumbeat, Job
from drumbeat.model.ids import JobId, NodeId
from drumbeat.model.jobs.job import Attempt, Settlement, Wanted

from .fleet import Fleet

LATENCY = 0.001


class Far:
    """Lets each take of a store need a millisecond, as over a network, and keeps a record."""

    def __init__(self, fleet: Fleet) -> None:
        self._clock = fleet.clock
        self._take: Any = fleet.store.jobs.take
        self.wanted: list[Wanted] = []
        self.settled: list[Sequence[Settlement]] = []
        self.given: list[Sequence[Attempt]] = []
        fleet.store.jobs.take = self.take  # type: ignore[method-assign, assignment]

    async def take(
        self, wanted: Wanted, by: NodeId, settled: Sequence[Settlement] = (), at: None = None
    ) -> Any:
        await self._clock.sleep(LATENCY / 2)
        taken = await self._take(wanted, by, settled, at)
        self.wanted.append(wanted)
        self.settled.append(settled)
        self.given.append(taken.attempts)
        await self._clock.sleep(LATENCY / 2)
        return taken

    @property
    def sizes(self) -> list[int]:
        return [len(attempts) for attempts in self.given]


class Flood:
    """Jobs that are over at once, then some that fill all slots, then more that are over at once.

    A node that works on them alone comes to rest with all slots taken and its buffer full.
    """

    def __init__(self, fleet: Fleet, slots: int = 2) -> None:
        self.fleet = fleet
        self.slots = slots
        self.ran: Counter[int] = Counter()
        self.ran_by: dict[int, str] = {}
        self.gates = [asyncio.Event() for _ in range(slots)]
        self.blocked = 0
        self.blockers: Sequence[Job] = ()
        self.behind: Sequence[Job] = ()

    def app(self) -> Drumbeat:
        app = self.fleet.app(concurrency=self.slots)

        @app.task
        async def quick(ctx: Context) -> None:
            self.ran[ctx.job_id] += 1
            self.ran_by[ctx.job_id] = app.settings.instance_id

        @app.task
        async def block() -> None:
            gate = self.gates[self.blocked % self.slots]
            self.blocked += 1
            await gate.wait()

        return app

    def open(self) -> None:
        for gate in self.gates:
            gate.set()

    async def fill(self, app: Drumbeat) -> None:
        """Bring the node to where its slots are blocked and its buffer is full."""
        await app.jobs.submit_many("quick", [()] * 400)
        self.blockers = await app.jobs.submit_many("block", [()] * self.slots)
        self.behind = await app.jobs.submit_many("quick", [()] * 300)
        for _ in range(1000):
            if self.blocked == self.slots:
                await self.fleet.clock.advance(0.01)  # the store hears of what has ended
                return
            await self.fleet.clock.advance(LATENCY)
        raise AssertionError("the slots were never blocked")


async def held(fleet: Fleet, app: Drumbeat) -> set[JobId]:
    return {attempt.job_id for attempt in await fleet.store.jobs.held(app.id)}
