"""Doors: where a node can be reached over HTTP."""

from __future__ import annotations

from collections.abc import Sequence

from drumbeat.api.server import Server


class Doors:
    """The servers of one node, opened and closed together."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where they listen."""
        return tuple(server.address for server in self._servers)

    async def open(self) -> None:
        """Listen at every address, or at none."""
        try:
            for server in self._servers:
                await server.start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Let the requests under way end, and listen no more."""
        for server in self._servers:
            await server.stop()


__all__ = ["Doors", "Server"]
