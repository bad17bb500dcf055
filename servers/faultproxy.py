"""A proxy in front of a server that can delay, hold back or reset connections.

It runs its own event loop in a thread, so its methods can be called from any thread.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Literal, Self

from servers.closeable import Closeable
from servers.ports import free_port

CHUNK = 65_536
IN_FLIGHT = 64
"""Chunks in flight after which a connection stops reading, like a full socket buffer."""

Direction = Literal["to_server", "to_client"]


@dataclass(eq=False, slots=True)
class Wire:
    """One direction of all connections: whether bytes pass, and with which delay."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    delay: float = 0.0


class FaultProxy(Closeable):
    """Forwards every connection to a server, with the faults that its methods inject."""

    def __init__(self, upstream: int) -> None:
        self.port = free_port()
        self._upstream = upstream
        self._wires: dict[Direction, Wire] = {"to_server": Wire(), "to_client": Wire()}
        self._refuses = False
        self._connections: dict[asyncio.Task[None], list[asyncio.StreamWriter]] = {}
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, name="fault-proxy", daemon=True)
        self._listener: asyncio.Server | None = None

    @classmethod
    def start(cls, upstream: int) -> Self:
        """Start a proxy in front of the server on that port."""
        proxy = cls(upstream)
        proxy._thread.start()
        asyncio.run_coroutine_threadsafe(proxy._listen(), proxy.loop).result()
        proxy.heal()
        return proxy

    def delay(self, seconds: float) -> None:
        """Delay all bytes by this much in each direction."""
        self._do(lambda: self._set_delay(seconds))

    def black_hole(self) -> None:
        """Hold back all bytes in both directions. Connections stay open, and new ones are accepted.

        Bytes and ends of connections that are sent meanwhile arrive after `heal`, as by TCP.
        """
        self._do(self._close_wires)

    def stall(self, direction: Direction) -> None:
        """Hold back all bytes in one direction."""
        self._do(self._wires[direction].open.clear)

    def reset(self) -> None:
        """Reset all connections, and each new one until `heal`."""
        self._do(lambda: self._set_refusing(refuses=True))
        self.cut_all()

    def cut_all(self) -> None:
        """Reset all existing connections; new ones are accepted."""
        self._do(self._reset_connections)

    def heal(self) -> None:
        """Forward everything without delay again, beginning with what was held back."""
        self._do(self._restore)

    def close(self) -> None:
        """Reset all connections and stop listening."""
        if not self._thread.is_alive():
            return
        asyncio.run_coroutine_threadsafe(self.end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def end(self) -> None:
        """Reset all connections and accept no new ones; must run on the proxy's loop."""
        assert self._listener is not None
        for listening in self._listener.sockets:  # accept no more
            self.loop.remove_reader(listening.fileno())
        self._set_refusing(refuses=True)  # including connections that are being accepted now
        ours = asyncio.current_task()
        while others := [task for task in asyncio.all_tasks() if task is not ours]:
            self._reset_connections()
            await asyncio.wait(others, timeout=1)
        self._listener.close()  # last: asyncio would leak a connection that it is accepting

    def _do(self, change: Callable[[], object]) -> None:
        """Run a function on the loop, and wait for it."""

        async def run() -> None:
            change()

        asyncio.run_coroutine_threadsafe(run(), self.loop).result()

    def _set_delay(self, seconds: float) -> None:
        for wire in self._wires.values():
            wire.delay = seconds

    def _set_refusing(self, *, refuses: bool) -> None:
        self._refuses = refuses

    def _close_wires(self) -> None:
        for wire in self._wires.values():
            wire.open.clear()

    def _restore(self) -> None:
        self._set_refusing(refuses=False)
        self._set_delay(0)
        for wire in self._wires.values():
            wire.open.set()

    def _reset_connections(self) -> None:
        for task, writers in self._connections.items():
            for writer in writers:
                _reset(writer)
            task.cancel()

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if self._refuses:
            _reset(writer)
            return
        self._connections[task] = [writer]
        try:
            await self._connect(reader, writer)
        except* (OSError, asyncio.CancelledError):  # reset by one side, or by us
            for each in self._connections[task]:
                _reset(each)
        finally:
            del self._connections[task]

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        await self._wires["to_server"].open.wait()
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        self._connections[task].append(server_writer)
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(_pump(reader, self._wires["to_server"], server_writer))
            pumps.create_task(_pump(server_reader, self._wires["to_client"], writer))
        for each in self._connections[task]:  # both sides have ended: close without a reset
            each.close()
            await each.wait_closed()


async def _pump(source: asyncio.StreamReader, wire: Wire, target: asyncio.StreamWriter) -> None:
    """Forward one direction of one connection, including its end."""
    clock = asyncio.get_running_loop().time
    in_flight: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(IN_FLIGHT)

    async def take() -> None:
        data = b"-"
        while data:
            data = await source.read(CHUNK)
            await in_flight.put((clock() + wire.delay, data))

    async def deliver() -> None:
        while True:
            due, data = await in_flight.get()
            await asyncio.sleep(due - clock())
            await wire.open.wait()
            if not data:
                break
            target.write(data)
            await target.drain()
        target.write_eof()

    async with asyncio.TaskGroup() as both:
        both.create_task(take())
        both.create_task(deliver())


def _reset(writer: asyncio.StreamWriter) -> None:
    """Reset a connection, if it is still open; bytes in flight are lost."""
    connection: socket.socket = writer.get_extra_info("socket")
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
