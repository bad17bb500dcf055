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

    def __init__(self, listeners: Sequence[HttpListener]) -> None:
        self._listeners = listeners
        for each in listeners:
            each.server.at_the_end(each.api.close)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses, with the real ports."""
        return tuple(each.server.address for each in self._listeners)

    async def check(self) -> None:
        """Reject public addresses without authentication. The store has to be open."""
        for each in self._listeners:
            if each.guarded:
                await each.api.access.check(each.server.asked)

    async def open(self) -> None:
        """Listen at every address, or at none."""
        try:
            for each in self._listeners:
                await each.server.start()
                log.info("Listening at http://%s", each.server.address)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop listening, and let running requests end."""
        for each in self._listeners:
            await each.server.stop()
            await each.api.access.close()
