"""Handlers: what the jobs of a simulated world do, well and badly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from drumbeat.engine.context import Context
from drumbeat.model.errors import Cancel, Snooze
from drumbeat.model.ids import JobId
from drumbeat.model.job import Hold
from drumbeat.testing.simulation.chance import Random
from drumbeat.testing.simulation.faults import Fault
from drumbeat.testing.simulation.history import Ran
from drumbeat.testing.simulation.process import Handle, Process

if TYPE_CHECKING:
    from drumbeat.testing.simulation.world import World


class Handlers:
    """Writes down what runs where, and misbehaves as long as the faults last."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._running: dict[JobId, list[Process]] = {}

    def of(self, process: Process) -> Handle:
        """The handler as one process runs it: gives back what it was given."""

        async def handle(ctx: Context, payload: str) -> str:
            hold = ctx.attempt.hold
            running = self._running.setdefault(hold.job_id, [])
            rivals = tuple(
                each.name for each in running if each is not process and not each.lane.paused
            )
            self._note(process, hold, "started", payload, rivals)
            running.append(process)
            what = "raised"
            try:
                await self._behave(process)
                what = "returned"
            except asyncio.CancelledError:
                what = "stopped"
                raise
            finally:
                if process in running:
                    running.remove(process)
                self._note(process, hold, what)
            return payload

        return handle

    def bury(self, process: Process) -> None:
        """The process is dead: nothing runs in it any more."""
        for running in self._running.values():
            while process in running:
                running.remove(process)

    def _note(
        self,
        process: Process,
        hold: Hold,
        what: str,
        payload: str | None = None,
        rivals: tuple[str, ...] = (),
    ) -> None:
        if process.alive:
            at = self._world.loop.time()
            self._world.history.ran.append(Ran(at, process.name, hold, what, payload, rivals))

    async def _behave(self, process: Process) -> None:
        world, clock, draw = self._world, process.machine.clock, self._random.random
        luck = 1.0 if world.healed else draw()
        if Fault.KILLERS in world.kinds and luck < 0.04:
            await clock.sleep(draw())
            world.history.faults[Fault.KILLERS] += 1
            world.crash(process)
            await world.loop.create_future()
        elif Fault.BAD_HANDLERS in world.kinds and luck < 0.3:
            world.history.faults[Fault.BAD_HANDLERS] += 1
            await self._misbehave(process, luck)
        elif luck < 0.4:
            await clock.sleep(2.0 + draw() * 6.0)  # longer than a silent node is waited for
        else:
            await clock.sleep(draw() ** 3 * 2.0)

    async def _misbehave(self, process: Process, luck: float) -> None:
        if luck < 0.12:
            raise RuntimeError("a bad handler")
        if luck < 0.18:
            raise Snooze(1.0)
        if luck < 0.21:
            raise Cancel("it does not want to")
        await process.machine.clock.sleep(30.0)
