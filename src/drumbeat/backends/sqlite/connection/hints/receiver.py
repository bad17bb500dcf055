"""The receiver: waits for hints from other handles."""

from __future__ import annotations

import logging
import os
import select
import socket
import sqlite3
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Thread

from drumbeat.backends.listeners import Listeners
from drumbeat.backends.sqlite.connection.connections import connect_reader
from drumbeat.backends.sqlite.connection.hints.peer_folder import PeerFolder
from drumbeat.backends.sqlite.connection.hints.topics import EVERYTHING

POLL = 1.0
"""Seconds between two polls where there are no datagrams."""
_MANY = 512
_TRIES = 10

_log = logging.getLogger("drumbeat.backends.sqlite.connection")


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
                "no socket for wake-ups beside %s (%s): polling once a second", path, problem
            )
        self._thread = Thread(target=self._run, name="drumbeat-sqlite-messenger", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.send(b"!")
        self._thread.join()
        self._stop.close()
        self._stopped.close()
        self._unbind()

    def _bind(self) -> None:
        self._folder = PeerFolder(self._path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        for _ in range(_TRIES):
            self._folder.make()
            with suppress(FileNotFoundError):  # the last peer in it has just removed it
                self._folder.bind(self._socket, self.name)
                return
        raise FileNotFoundError("other processes keep removing its folder")

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
                self._listeners.wake(EVERYTHING)  # the listener will see the error when it reads
        if connection is not None:
            connection.close()


def _drain(incoming: socket.socket) -> int:
    topics = 0
    with suppress(BlockingIOError):
        for _ in range(_MANY):
            for bits in incoming.recv(16):
                topics |= bits
    return topics
