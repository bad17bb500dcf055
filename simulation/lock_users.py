"""Lets every process work under one lock of the fleet, and records which of them trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drumbeat.engine.leading.lock import Lock
from drumbeat.model.errors import DrumbeatError, LockHeld, LockLost
from simulation.faults import Fault
from simulation.history import LockUse
from simulation.process import Process
from simulation.randomness import Random

if TYPE_CHECKING:
    from simulation.world import World

LOCK = "door"
TTL = 2.0
STEP = 0.25


class LockUsers:
    """Every process acquires the same lock repeatedly, until the faults stop."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random

    async def use_lock(self, process: Process) -> None:
        """Work under the lock for a while, pause, and repeat."""
        world, clock = self._world, process.machine.clock
        while not world.healed:
            await clock.sleep(self._random.random() * 3.0)
            wait = self._random.choice((0.0, 1.0, 5.0))
            world.history.faults[Fault.LOCKS] += 1
            try:
                async with process.app.lock(LOCK, ttl=TTL, wait=wait) as lock:
                    process.lock = lock
                    await self._work(process, lock)
            except LockLost as lost:
                world.history.rare_events["a lock was lost"] += 1
                world.log(process.name, "lock", str(lost))
            except LockHeld:
                world.history.rare_events["a lock was held by another"] += 1
            except DrumbeatError as error:
                world.log(process.name, "lock", str(error))
            finally:
                process.lock = None

    async def _work(self, process: Process, lock: Lock) -> None:
        world, clock = self._world, process.machine.clock
        until = clock.elapsed() + self._random.random() * 4.0
        world.log(process.name, "lock", f"holds {LOCK} by {lock.token}")
        while clock.elapsed() < until:
            if lock.held:
                others = tuple(
                    other.name
                    for other in world.processes
                    if other is not process and other.lock is not None and other.lock.held
                )
                now = world.loop.time()
                world.record_lock_use(LockUse(now, process.name, LOCK, lock.token, others))
            await clock.sleep(STEP)
