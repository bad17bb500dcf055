"""Listeners: the addresses at which a node serves HTTP."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from drumbeat.api.http.application import Api
from drumbeat.api.http.server import Server

log = logging.getLogger("drumbeat.api")


@dataclass(frozen=True, slots=True)
class HttpListener:
    """A server and the API that it serves."""

    server: Server
    api: Api
    guarded: bool = True
    """Whether it needs authentication to listen at a public address. Probes do not."""


class HttpListeners:
    """The listeners of one node, opened and closed together."""

    def __init__(self, doors: Sequence[HttpListener]) -> None:
        self._doors = doors
        for door in doors:
            door.server.at_the_end(door.api.close)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses, with the real ports."""
        return tuple(door.server.address for door in self._doors)

    async def check(self) -> None:
        """Reject public addresses without authentication. The store has to be open."""
        for door in self._doors:
            if door.guarded:
                await door.api.access.check(door.server.asked)

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
        """Stop listening, and let running requests end."""
        for door in self._doors:
            await door.server.stop()
            await door.api.access.close()
