"""A client: an app that runs no node, such as a web server. It submits, edits and cancels."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from drumbeat.engine.leading.hand_over import request_for
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.ids import JobId
from drumbeat.model.schedules.plan import Backfilled
from drumbeat.model.triggers import every
from simulation.faults import Fault
from simulation.history import Acknowledged
from simulation.process import Process
from simulation.randomness import Random

if TYPE_CHECKING:
    from simulation.world import World

Act: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

BATCH = 3
EXPIRES = 2.0
"""Seconds after which a third of the submitted jobs may not start any more."""
BACKFILLED = ("often", "single", "patient")
EDITED = ("edited-1", "edited-2", "often", "single")


class Client:
    """Performs random operations at random times, until the faults stop."""

    def __init__(self, world: World, process: Process, random: Random) -> None:
        self._world = world
        self._process = process
        self._app = process.app
        self._random = random
        self._numbers = count(1)
        self._jobs: list[JobId] = []
        self._acts = self._chosen()

    def _chosen(self) -> list[tuple[Fault | None, Act]]:
        edits: list[Act] = [self._put, self._put, self._pause, self._resume, self._remove]
        acts: dict[Fault | None, list[Act]] = {
            None: [*[self._submit] * 6, self._submit_many],
            Fault.EDITS: edits * 2,
            Fault.CANCELS: [self._cancel] * 3,
            Fault.DRAINS: [self._drain],
            Fault.BACKFILLS: [self._backfill] * 3,
        }
        if self._world.history.separate_stores:  # no other process shares the client's store
            acts = {}
        acts[Fault.RESIGNS] = [self._ask_to_resign]
        kinds = self._world.kinds
        return [
            (kind, act)
            for kind, several in acts.items()
            for act in several
            if kind is None or kind in kinds
        ]

    def begin(self) -> None:
        if self._acts:
            self._world.later(self._random.random(), self._act)

    def _act(self) -> None:
        if self._world.healed:
            return
        kind, work = self._random.choice(self._acts)
        if kind is not None:
            self._world.history.faults[kind] += 1
        self._world.loop.start(self._process.lane, self._try(work), "client")
        self._world.later(0.1 + self._random.expovariate(1.0), self._act)

    async def _try(self, work: Act) -> None:
        try:
            await work()
        except DrumbeatError as error:  # a user would see it and may retry
            self._world.log("client", "refused", str(error))

    def _acknowledge(self, what: str, subject: object) -> None:
        history = self._world.history
        history.acknowledged.append(Acknowledged(self._world.loop.time(), what, subject))

    async def _submit(self) -> None:
        number = next(self._numbers)
        payload = f"payload {number}"
        delay = self._random.choice((0.0, 0.0, 1.5))
        name = self._random.choice(("work", "work", "toil"))
        expires = EXPIRES if number % 3 == 0 else None
        task = self._app.task_named(name).options(delay=delay, expires=expires)
        job = await task.submit(payload)
        self._jobs.append(job.id)
        self._acknowledge("submitted", (job.id, payload))

    async def _submit_many(self) -> None:
        batch = f"batch {next(self._numbers)}"
        calls = [{"payload": f"{batch}.{number}"} for number in range(BATCH)]
        jobs = await self._app.task_named("work").submit_many(calls)
        for job, call in zip(jobs, calls, strict=True):
            self._acknowledge("submitted", (job.id, call["payload"]))

    async def _put(self) -> None:
        name = self._random.choice(EDITED[:2])
        seconds = self._random.choice((2, 3, 4))
        await self._app.schedules.put(
            name, every(seconds=seconds), "work", kwargs={"payload": name}, overlap="allow"
        )
        self._acknowledge("put", name)

    async def _pause(self) -> None:
        name = self._random.choice(EDITED)
        await self._app.schedules.pause(name)
        self._acknowledge("pause", name)

    async def _resume(self) -> None:
        name = self._random.choice(EDITED)
        await self._app.schedules.resume(name)
        self._acknowledge("resume", name)

    async def _remove(self) -> None:
        name = self._random.choice(EDITED[:2])
        await self._app.schedules.remove(name)
        self._acknowledge("remove", name)

    async def _cancel(self) -> None:
        if self._jobs:
            job_id = self._random.choice(self._jobs[-10:])
            await self._app.jobs.cancel(job_id)

    async def _drain(self) -> None:
        alive = [each.node.id for each in await self._app.nodes() if each.alive]
        if alive:
            asked = await self._app.drain([self._random.choice(alive)])
            self._world.log("client", "drain", f"asked {', '.join(asked)} to drain")

    async def _ask_to_resign(self) -> None:
        lease = await self._app.leadership.leader()
        if lease is not None:
            await self._app.config.put(*request_for(lease))
            self._world.log("client", "resign", f"asked {lease.holder} to end term {lease.token}")

    async def _backfill(self) -> None:
        name = self._random.choice(BACKFILLED)
        end = self._process.machine.clock.now() - timedelta(seconds=self._random.choice((0.5, 4)))
        fired = await self._app.schedules.backfill(name, end - timedelta(seconds=15), end)
        for verdict in fired:
            if isinstance(verdict, Backfilled):
                self._acknowledge("submitted", (verdict.job_id, name))
