"""The server: an ASGI app at an address, for as long as the node runs."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn

from drumbeat.api.http.connection import Bounds, bounded, cut_off_largest
from drumbeat.config.kinds import host_and_port
from drumbeat.model.errors import ConfigurationError

GRACE = 5
"""Seconds that running requests may take once the node stops."""
BACKLOG = 2_048
ROUNDS_A_SECOND = 10
"""How often uvicorn calls back."""
NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class Server:
    """Serves an app at an address."""

    def __init__(
        self, app: Any, address: str, setting: str = "http_addr", bounds: Bounds | None = None
    ) -> None:
        self.asked = address
        """The address as it was given."""
        self._setting = setting
        bounds = bounds or Bounds()
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                http=bounded(bounds),
                ws="none",
                log_config=None,
                access_log=False,
                lifespan="off",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=bounds.idle_seconds,
                timeout_graceful_shutdown=GRACE,
            ),
            bounds.unsent_bytes,
        )
        self._sockets: Sequence[socket.socket] = ()
        self._serving: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """The address with the real port, also if port 0 was given."""
        assert self._sockets, "the server has not been started"
        host, port, *_ = self._sockets[0].getsockname()
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def start(self) -> None:
        """Listen, and return; `ConfigurationError` if the address is not available."""
        _quiet()
        self._sockets = self._listen()
        serving = self._server.serve(list(self._sockets))
        self._serving = asyncio.create_task(serving, name="drumbeat-server")
        await self._server.accepting.wait()

    def at_the_end(self, ending: Callable[[], None]) -> None:
        """Call this once no more requests are accepted, before waiting for running ones."""
        self._server.ending = ending

    async def stop(self) -> None:
        """Accept no more requests, wait for running ones, and return."""
        if self._serving is None:
            return
        self._server.should_exit = True
        await asyncio.wait([self._serving])
        self._serving = None

    def _listen(self) -> Sequence[socket.socket]:
        host, port = host_and_port(self.asked)
        try:
            return _everywhere(port) if not host else _at(host, port)
        except OSError as error:
            raise ConfigurationError(
                f"{self._setting} {self.asked!r} cannot be listened at: {error}; "
                f"stop what uses it, or give another address"
            ) from error


def _quiet() -> None:
    """Drop uvicorn's log lines about its start and end, unless its log level was set."""
    talk = logging.getLogger("uvicorn.error")
    if talk.level == logging.NOTSET:
        talk.setLevel(logging.WARNING)


def _everywhere(port: int) -> Sequence[socket.socket]:
    """All interfaces, IPv4 and IPv6 in one socket if the system can."""
    if socket.has_dualstack_ipv6():
        try:
            return [_bound(socket.AF_INET6, "::", port, both=True)]
        except OSError as error:
            if error.errno not in NOT_HERE:  # IPv6 may be switched off
                raise
    return [_bound(socket.AF_INET, "0.0.0.0", port)]  # noqa: S104 - it was asked for


def _at(host: str, port: int) -> Sequence[socket.socket]:
    """Every address that the host has, all at the same port."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    made: list[socket.socket] = []
    refused: OSError | None = None
    for family, address in dict.fromkeys((each[0], str(each[4][0])) for each in found):
        try:
            made.append(_bound(family, address, port))
        except OSError as error:
            if error.errno not in NOT_HERE:
                for each in made:
                    each.close()
                raise
            refused = error
        else:
            port = made[0].getsockname()[1]
    if not made:
        assert refused is not None, "a name that was found has an address"
        raise refused
    return made


def _bound(family: int, host: str, port: int, *, both: bool = False) -> socket.socket:
    made = socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
    made.setblocking(False)
    return made


def _nothing() -> None: ...


class _Uvicorn(uvicorn.Server):
    """Uvicorn, without its signal handlers, and with an event for when it accepts requests."""

    def __init__(self, config: uvicorn.Config, unsent_bytes: int) -> None:
        super().__init__(config)
        self.unsent_bytes = unsent_bytes
        self.accepting = asyncio.Event()
        self.ending: Callable[[], None] = _nothing

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets)
        self.accepting.set()

    async def on_tick(self, counter: int) -> bool:
        """Check once a second for clients that hold a connection and send nothing."""
        if counter % ROUNDS_A_SECOND == 0:
            connections: set[Any] = self.server_state.connections  # of the class that we gave it
            for connection in tuple(connections):
                connection.second_passed()
            cut_off_largest(tuple(connections), self.unsent_bytes)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, and end the streams, which do not end by themselves."""
        for server in self.servers:
            server.close()
        self.ending()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Do nothing: the node handles signals."""
        yield
