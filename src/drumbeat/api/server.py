"""The server: an ASGI app at an address, for as long as the node runs."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn

from drumbeat.config.kinds import host_and_port
from drumbeat.model.errors import ConfigurationError

GRACE = 5
"""Seconds that requests under way may take once the node stops."""
BACKLOG = 2_048


class Server:
    """Serves an app at an address."""

    def __init__(self, app: Any, address: str, setting: str = "http_addr") -> None:
        self._asked = address
        self._setting = setting
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        self._socket: socket.socket | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Where it listens: the port is the real one, also where 0 was asked for."""
        assert self._socket is not None, "the server has not been started"
        host, port, *_ = self._socket.getsockname()
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def start(self) -> None:
        """Listen, and return; `ConfigurationError` where the address cannot be had."""
        self._socket = self._listen()
        serving = self._server.serve([self._socket])
        self._serving = asyncio.create_task(serving, name="drumbeat-server")
        await self._server.accepting.wait()

    async def stop(self) -> None:
        """Take no more requests, let those under way end, and return."""
        if self._serving is None:
            return
        self._server.should_exit = True
        await asyncio.wait([self._serving])
        self._serving = None

    def _listen(self) -> socket.socket:
        host, port = host_and_port(self._asked)
        try:
            family, *_, where = socket.getaddrinfo(
                host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            made = socket.create_server(
                where[:2], family=family, backlog=BACKLOG, dualstack_ipv6=False
            )
        except OSError as error:
            raise ConfigurationError(
                f"{self._setting} {self._asked!r} cannot be listened at: {error}; "
                f"stop what uses it, or give another address"
            ) from error
        made.setblocking(False)
        return made


class _Uvicorn(uvicorn.Server):
    """Uvicorn, which leaves the signals to the node and tells when it accepts requests."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        self.accepting.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Nothing: the node decides when to stop."""
        yield
