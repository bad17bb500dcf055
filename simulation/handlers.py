"""Handlers: what the jobs of a simulated world do, well and badly."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drumbeat.engine.tasks.context import Context
from drumbeat.model.errors import Cancel, Snooze
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Hold
from simulation.chance import Random
from simulation.faults import Fault
from simulation.history import Ran
from simulation.loop import LANE
from simulation.process import Handle, Process

if TYPE_CHECKING:
    from simulation.world import World


POLL = 0.2
"""Seconds between two looks of a handler in a thread at whether it should end."""


@dataclass(eq=False, slots=True)
class _Running:
    """A handler at work."""

    process: Process
    context: Context
    threaded: bool

    @property
    def goes_on(self) -> bool:
        """Whether it works on. A thread that was told to end is let go: nobody can end it."""
        told = self.threaded and self.context.cancelled.is_set()
        return not self.process.lane.paused and not told


class Handlers:
    """Writes down what runs where, and misbehaves as long as the faults last."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._running: dict[tuple[str, JobId], list[_Running]] = {}

    def of(self, process: Process) -> Handle:
        """The handler as one process runs it: gives back what it was given."""

        async def handle(ctx: Context, payload: str) -> str:
            hold = ctx.attempt.hold
            store = process.name if self._world.history.apart else ""
            running = self._running.setdefault((store, hold.job_id), [])
            rivals = tuple(
                each.process.name
                for each in running
                if each.process is not process and each.goes_on
            )
            self._note(process, hold, "started", payload, rivals)
            mine = _Running(process, ctx, LANE.get() is not process.lane)
            running.append(mine)
            what = "raised"
            try:
                await self._behave(mine)
                what = "returned"
            except asyncio.CancelledError:
                what = "stopped"
                raise
            finally:
                if mine in running:
                    running.remove(mine)
                self._note(process, hold, what)
            return payload

        return handle

    def bury(self, process: Process) -> None:
        """The process is dead: nothing runs in it any more."""
        for running in self._running.values():
            running[:] = [each for each in running if each.process is not process]

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
            self._world.ran(Ran(at, process.name, hold, what, payload, rivals))

    async def _behave(self, mine: _Running) -> None:
        world, draw = self._world, self._random.random
        luck = 1.0 if world.healed else draw()
        if Fault.KILLERS in world.kinds and luck < 0.04:
            await self._sleep(mine, draw())
            world.history.faults[Fault.KILLERS] += 1
            world.crash(mine.process)
            await world.loop.create_future()
        elif Fault.BAD_HANDLERS in world.kinds and luck < 0.3:
            world.history.faults[Fault.BAD_HANDLERS] += 1
            await self._misbehave(mine, luck)
        elif luck < 0.4:
            await self._sleep(mine, 2.0 + draw() * 6.0)  # longer than a silent node is waited for
        else:
            await self._sleep(mine, draw() ** 3 * 2.0)

    async def _misbehave(self, mine: _Running, luck: float) -> None:
        if luck < 0.12:
            raise RuntimeError("a bad handler")
        if luck < 0.18:
            raise Snooze(1.0)
        if luck < 0.21:
            raise Cancel("it does not want to")
        await mine.process.machine.clock.sleep(30.0)

    async def _sleep(self, mine: _Running, seconds: float) -> None:
        """Work for a while. In a thread nobody can end it, so it looks whether it should end."""
        clock = mine.process.machine.clock
        if not mine.threaded:
            await clock.sleep(seconds)
            return
        until = clock.elapsed() + seconds
        while (left := until - clock.elapsed()) > 0:
            if mine.context.cancelled:
                raise RuntimeError("it was told to end")
            await clock.sleep(min(POLL, left))
