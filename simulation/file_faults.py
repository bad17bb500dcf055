"""Faults of the SQLite file: a full disk, and processes that are killed within a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.faults import Fault
from simulation.randomness import Random

if TYPE_CHECKING:
    from simulation.world import World

KILLED_WRITING = 0.005
"""The share of transactions within which a process is killed, in worlds with this fault."""


class FileFaults:
    """Injects the faults of one world's file."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._full_disks = 0
        self.disk_is_full = False

    def fill_disk(self, seconds: float) -> None:
        """Let SQLite find no space on the disk for a while."""
        self._world.log("world", "full disk", f"no new pages for {seconds:g} s")
        self._full_disks += 1
        self.disk_is_full = True

        def free_space() -> None:
            self._full_disks -= 1
            self.disk_is_full = self._full_disks > 0 and not self._world.healed

        self._world.later(seconds, free_space)

    def dies_writing(self, process: str) -> bool:
        """Whether to kill this process within the transaction that it begins now."""
        world = self._world
        active = Fault.KILLED_WRITING in world.kinds and not world.healed
        nodes = [each.name for each in world.processes]
        return active and process in nodes and self._random.random() < KILLED_WRITING

    def kill_writing(self, name: str) -> None:
        """Kill a process whose connection was closed before its COMMIT."""
        world = self._world
        world.history.faults[Fault.KILLED_WRITING] += 1
        process = next(each for each in world.processes if each.name == name)
        world.log(name, "crash", "killed within a transaction")
        world.end_process(process, self._random.choice((0.1, 2.0)))
