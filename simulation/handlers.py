"""The handlers of a simulated world, which also misbehave."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from drumbeat.engine.tasks.context import Context
from drumbeat.model.errors import Cancel, Snooze
from drumbeat.model.ids import JobId
from drumbeat.model.jobs.job import Hold
from simulation.faults import Fault
from simulation.history import HandlerStep
from simulation.loop import LANE
from simulation.process import Handle, Process
from simulation.randomness import Random

if TYPE_CHECKING:
    from simulation.world import World


POLL = 0.2
"""Seconds after which a handler in a thread checks again whether it should stop."""


STOPS = ("the node is stopping", "the node is draining")
"""The reasons for which a stopping node asks its handlers to end."""
GAVE_UP = "gave up because the node stops"


class Quits(Enum):
    """How a handler ends that finds out that its node stops."""

    RETURNS = "gave up"
    RAISES = "gave up with an error"
    FINISHES = "finished"


class _Quit(Exception):
    """The handler quits."""


@dataclass(eq=False, slots=True)
class _Running:
    """A handler that runs."""

    process: Process
    context: Context
    threaded: bool
    quits: Quits | None = None

    @property
    def active(self) -> bool:
        """Whether it counts as running. A thread that was told to stop cannot be forced to."""
        told_to_stop = self.threaded and self.context.cancelled.is_set()
        return not self.process.lane.paused and not told_to_stop


class Handlers:
    """Records which handler runs where, and misbehaves while the faults last."""

    def __init__(self, world: World, random: Random, quitters: Random) -> None:
        self._world = world
        self._random = random
        self._quitters = quitters
        self._running: dict[tuple[str, JobId], list[_Running]] = {}

    def of(self, process: Process) -> Handle:
        """The handler of one process; it returns its payload."""

        async def handle(ctx: Context, payload: str) -> str:
            hold = ctx.attempt.hold
            store = process.name if self._world.history.separate_stores else ""
            running = self._running.setdefault((store, hold.job_id), [])
            rivals = tuple(
                each.process.name for each in running if each.process is not process and each.active
            )
            self._note(process, hold, "started", payload, rivals)
            mine = _Running(process, ctx, LANE.get() is not process.lane)
            if Fault.QUITTERS in self._world.kinds and not self._world.healed:
                mine.quits = self._quitters.choice((None, *Quits))
            running.append(mine)
            what = "raised"
            try:
                await self._behave(mine)
                what = "returned"
            except _Quit:
                assert mine.quits is not None, "only such a handler quits"
                what = mine.quits.value
                if mine.quits is Quits.FINISHES and mine.threaded:
                    what = "returned"  # its node may end the attempt before it hears of the end
                self._world.history.faults[Fault.QUITTERS] += 1
                if mine.quits is Quits.RAISES:
                    raise RuntimeError(GAVE_UP) from None
                if mine.quits is Quits.FINISHES:
                    ctx.finished()
            except asyncio.CancelledError:
                what = "stopped"
                raise
            finally:
                if mine in running:
                    running.remove(mine)
                self._note(process, hold, what)
            return payload

        return handle

    def forget_process(self, process: Process) -> None:
        """Drop the handlers of a dead process."""
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
            self._world.record_handler_step(
                HandlerStep(at, process.name, hold, what, payload, rivals)
            )

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
            await self._sleep(mine, 2.0 + draw() * 6.0)  # longer than the lifetime of a silent node
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
        """Work for a while. A handler in a thread cannot be cancelled, so it checks the context."""
        clock = mine.process.machine.clock
        if not mine.threaded and mine.quits is None:
            await clock.sleep(seconds)
            return
        until = clock.elapsed() + seconds
        while (left := until - clock.elapsed()) > 0:
            if mine.context.cancelled:
                if mine.quits is not None and mine.context.cancelled.reason in STOPS:
                    raise _Quit
                raise RuntimeError("it was told to stop")
            await clock.sleep(min(POLL, left))
