"""Faults of the SQLite file: a full disk, and processes that are killed within a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.chance import Random
from simulation.faults import Fault
from simulation.sqlite import SqliteFile

if TYPE_CHECKING:
    from simulation.world import World

KILLED_WRITING = 0.005
"""The share of the transactions within which a process is killed, in worlds that have this."""


class FileFaults:
    """Plays the faults of one world's file."""

    def __init__(self, world: World, file: SqliteFile, random: Random) -> None:
        self._world = world
        self._file = file
        self._random = random
        self._full_disks = 0
        file.dies, file.kill = self._dies_writing, self._kill_writing

    def fill_disk(self, seconds: float) -> None:
        """Let SQLite find no room on the disk for a while."""
        self._world.tell("world", "full disk", f"no new pages for {seconds:g} s")
        self._full_disks += 1
        self._file.full = True

        def make_room() -> None:
            self._full_disks -= 1
            self._file.full = self._full_disks > 0 and not self._world.healed

        self._world.later(seconds, make_room)

    def _dies_writing(self, process: str) -> bool:
        world = self._world
        writes = Fault.KILLED_WRITING in world.kinds and not world.healed
        nodes = [each.name for each in world.processes]
        return writes and process in nodes and self._random.random() < KILLED_WRITING

    def _kill_writing(self, name: str) -> None:
        world = self._world
        world.history.faults[Fault.KILLED_WRITING] += 1
        process = next(each for each in world.processes if each.name == name)
        world.tell(name, "crash", "killed within a transaction")
        world.bury(process, self._random.choice((0.1, 2.0)))
