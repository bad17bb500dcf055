"""The messenger: tells other processes that the file has changed, within a fraction of a
millisecond and without anybody looking again and again.

Beside the file is a folder, `drumbeat.db-peers`, that only its owner may enter. Whoever listens
puts a Unix datagram socket into it, under a name that nobody can guess. Whoever has committed
sends one datagram to each socket that is there: a single byte, the news as bits. Nothing else
needs to be known of the others, there is no list to keep, and a process that was killed is
noticed by the first datagram that is refused: its socket is then removed.

A datagram is a hint. If a receiver is so busy that its buffer is full, the news are kept for the
next one to it; should that be lost as well, whoever waits for a hint also looks once a second.

Where the socket cannot be made (another system, a file system without sockets, a folder of
another user) the messenger says so once in the log and asks SQLite once a second whether any other
connection has committed, which costs a few microseconds.
"""

from __future__ import annotations

import logging
import os
import select
import socket
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock, Thread

from drumbeat.sqlite.connecting import connect_reader
from drumbeat.sqlite.listeners import Listeners
from drumbeat.sqlite.news import EVERYTHING

POLL = 1.0
"""Seconds between two looks where there are no datagrams."""
_MANY = 512

_log = logging.getLogger("drumbeat.sqlite")


class Messenger:
    """Brings news from and to the other handles of the file, in this process and in others."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listeners = Listeners()
        self._lock = Lock()
        self._folder: PeerFolder | None = None
        self._receiver: Receiver | None = None
        self._kept: dict[str, int] = {}
        """News for peers whose buffer was full."""

    def subscribe(self, news: int, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake`, on the loop that runs here now, after news of this kind."""
        stop = self._listeners.add(news, wake)
        with self._lock:
            if self._receiver is None:
                self._receiver = Receiver(self._path, self._listeners)
        return stop

    def tell(self, news: int) -> None:
        """Wake whoever listens through this handle, and send the others word."""
        self._listeners.wake(news)
        with self._lock:
            if self._folder is None:
                self._folder = PeerFolder.of(self._path)
        receiver = self._receiver
        for peer in self._folder.peers():
            if receiver is None or peer != receiver.name:
                self._send(self._folder, peer, news | self._kept.pop(peer, 0))

    def close(self) -> None:
        """Listen and tell no more."""
        with self._lock:
            receiver, self._receiver = self._receiver, None
            folder, self._folder = self._folder, None
        if receiver is not None:
            receiver.close()
        if folder is not None:
            folder.close()

    def _send(self, folder: PeerFolder, peer: str, news: int) -> None:
        try:
            folder.send(peer, news)
        except BlockingIOError:
            self._kept[peer] = news
        except ConnectionRefusedError:
            folder.remove(peer)  # its process is gone
        except OSError:
            pass  # it has just left, or is another user's: a hint less


class PeerFolder:
    """The folder of sockets beside a file, and a socket to send from."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-peers")
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._handle = -1

    @classmethod
    def of(cls, path: Path) -> PeerFolder:
        """The folder of a file, whether it exists or not."""
        return cls(path)

    def make(self) -> None:
        """Make it, for its owner only."""
        with suppress(FileExistsError):
            self._path.mkdir(mode=0o700)
        self._open()

    def peers(self) -> list[str]:
        """The sockets that are there."""
        try:
            return os.listdir(self._path)  # noqa: PTH208 - names only, at every commit
        except OSError:
            return []

    def send(self, peer: str, news: int) -> None:
        """One datagram."""
        if self._handle < 0:
            self._open()
        self._sender.sendto(bytes((news,)), self.address(peer))

    def address(self, peer: str) -> str:
        """Where a peer's socket is, in few enough characters whatever the folder's own path."""
        return f"/proc/self/fd/{self._handle}/{peer}"

    def remove(self, peer: str) -> None:
        """Clear a socket away."""
        with suppress(OSError):
            (self._path / peer).unlink()

    def close(self) -> None:
        """Let go of it; if nobody is left in it, it goes too."""
        self._sender.close()
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        with suppress(OSError):
            self._path.rmdir()

    def _open(self) -> None:
        self._handle = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)


class Receiver:
    """Waits for datagrams in a thread of its own, or polls where there can be none."""

    def __init__(self, path: Path, listeners: Listeners) -> None:
        self._path = path
        self._listeners = listeners
        self._stop, self._stopped = socket.socketpair()
        self._folder: PeerFolder | None = None
        self._socket: socket.socket | None = None
        self.name = f"{os.getpid()}-{token_hex(8)}"
        try:
            self._bind()
        except (OSError, AttributeError) as problem:
            self._unbind()
            _log.warning(
                "no socket for wake-ups beside %s (%s): looking once a second", path, problem
            )
        self._thread = Thread(target=self._run, name="drumbeat-sqlite-messenger", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and clear the socket away."""
        self._stop.send(b"!")
        self._thread.join()
        self._stop.close()
        self._stopped.close()
        self._unbind()

    def _bind(self) -> None:
        self._folder = PeerFolder.of(self._path)
        self._folder.make()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(self._folder.address(self.name))

    def _unbind(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._folder is not None:
            self._folder.remove(self.name)
            self._folder.close()
            self._folder = None

    def _run(self) -> None:
        if self._socket is not None:
            self._receive(self._socket)
        else:
            self._poll()

    def _receive(self, incoming: socket.socket) -> None:
        waiting = select.poll()
        waiting.register(incoming, select.POLLIN)
        waiting.register(self._stopped, select.POLLIN)
        while True:
            ready = [handle for handle, _ in waiting.poll()]
            if self._stopped.fileno() in ready:
                return
            self._listeners.wake(_drain(incoming))

    def _poll(self) -> None:
        connection: sqlite3.Connection | None = None
        seen: int | None = None
        while not select.select([self._stopped], [], [], POLL)[0]:
            try:
                if connection is None and self._path.exists():  # opening would make it
                    connection = connect_reader(self._path, POLL)
                if connection is not None:
                    (version,) = connection.execute("PRAGMA data_version").fetchone()
                    if version != seen:
                        seen = version
                        self._listeners.wake(EVERYTHING)
            except sqlite3.Error:
                self._listeners.wake(EVERYTHING)  # whoever looks will see what is wrong
        if connection is not None:
            connection.close()


def _drain(incoming: socket.socket) -> int:
    """All the news that have come in, as one."""
    news = 0
    with suppress(BlockingIOError):
        for _ in range(_MANY):
            for bits in incoming.recv(16):
                news |= bits
    return news
