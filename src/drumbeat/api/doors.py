"""Doors: where a node can be reached over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from drumbeat.api.application import Api
from drumbeat.api.server import Server

log = logging.getLogger("drumbeat.api")


@dataclass(frozen=True, slots=True)
class Door:
    """An app at an address."""

    server: Server
    api: Api
    guarded: bool = True
    """Whether it stays shut where nobody would be asked who they are. Probes may be asked so."""


class Doors:
    """The servers of one node, opened and closed together."""

    def __init__(self, doors: Sequence[Door]) -> None:
        self._doors = doors
        for door in doors:
            door.server.at_the_end(door.api.close)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where they listen."""
        return tuple(door.server.address for door in self._doors)

    async def check(self) -> None:
        """Refuse addresses at which anybody could do everything. The store has to be open."""
        for door in self._doors:
            if door.guarded:
                await door.api.gate.check(door.server.asked)

    async def open(self) -> None:
        """Listen at every address, or at none."""
        try:
            for door in self._doors:
                await door.server.start()
                log.info("Listening at http://%s", door.server.address)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Let the requests under way end, and listen no more."""
        for door in self._doors:
            await door.server.stop()
            await door.api.gate.close()
