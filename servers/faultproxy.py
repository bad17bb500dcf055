"""A fault proxy: a wire to a server that can be slow, cut, or swallow what is sent.

It runs an event loop in a thread of its own, so that its methods can be called from anywhere.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from types import TracebackType
from typing import Literal, Self

from servers.ports import free_port

CHUNK = 65_536
IN_FLIGHT = 64
"""How many chunks a wire holds before it takes no more, as a full socket buffer would."""

Direction = Literal["to_server", "to_client"]


@dataclass(eq=False, slots=True)
class Wire:
    """One direction of all connections: whether bytes pass, and how long they take."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    delay: float = 0.0


class FaultProxy:
    """Passes every connection on to a server, and does to them what it is told."""

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
        """Start a proxy before the server on that port."""
        proxy = cls(upstream)
        proxy._thread.start()
        asyncio.run_coroutine_threadsafe(proxy._listen(), proxy.loop).result()
        proxy.heal()
        return proxy

    def delay(self, seconds: float) -> None:
        """Let everything arrive that much later, each way."""
        self._do(lambda: self._set_delay(seconds))

    def black_hole(self) -> None:
        """Let nothing arrive, either way. Connections stay open, and new ones are accepted.

        What is sent meanwhile arrives after `heal`, as it would by TCP; an end does, too.
        """
        self._do(self._close_wires)

    def stall(self, direction: Direction) -> None:
        """Let nothing arrive that way; the other way is as before."""
        self._do(self._wires[direction].open.clear)

    def reset(self) -> None:
        """Reset all connections, and every new one until `heal`."""
        self._do(lambda: self._set_refusing(refuses=True))
        self.cut_all()

    def cut_all(self) -> None:
        """Reset all connections that there are; new ones are not concerned."""
        self._do(self._reset_connections)

    def heal(self) -> None:
        """Let everything pass at once again, and what was held back first."""
        self._do(self._restore)

    def close(self) -> None:
        """Reset all connections and listen no more."""
        if not self._thread.is_alive():
            return
        asyncio.run_coroutine_threadsafe(self.end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def end(self) -> None:
        """Reset all connections and accept no more; to be awaited on the loop."""
        assert self._listener is not None
        for listening in self._listener.sockets:  # accept no more
            self.loop.remove_reader(listening.fileno())
        self._set_refusing(refuses=True)  # connections that are being accepted now
        ours = asyncio.current_task()
        while others := [task for task in asyncio.all_tasks() if task is not ours]:
            self._reset_connections()
            await asyncio.wait(others, timeout=1)
        self._listener.close()  # not before: asyncio leaks a connection that it is still accepting

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _do(self, change: Callable[[], object]) -> None:
        """Make a change on the loop, and wait until it is made."""

        async def changing() -> None:
            change()

        asyncio.run_coroutine_threadsafe(changing(), self.loop).result()

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
        for each in self._connections[task]:  # both sides have said all: nothing to reset
            each.close()
            await each.wait_closed()


async def _pump(source: asyncio.StreamReader, wire: Wire, target: asyncio.StreamWriter) -> None:
    """Carry one direction of one connection, its end included, until the end."""
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
    """End a connection with a reset, if it is not over yet; what is in flight is lost."""
    connection: socket.socket = writer.get_extra_info("socket")
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
