"""Redis, which keeps a log of its changes and flushes it once a second."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from servers.packages import REDIS, Package
from servers.server import Broken, Server

ASK_PATIENCE = 30.0
BRIEF = 5.0
"""For those who ask again, and again, of a server that may not be ready."""
COPY_PATIENCE = 90.0
PAUSE = 0.02
OFFSET = re.compile(r"master_repl_offset:(\d+)")
COPIED = re.compile(r"^slave\d+:.*state=(\w+),offset=(\d+)", re.MULTILINE)


class Redis(Server):
    """A Redis server. The last second of what it acknowledged may be lost when it is killed."""

    name = "Redis"
    package: ClassVar[Package] = REDIS

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._program = self.package.require()
        super().__init__()
        self._settings = {
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            "repl-diskless-sync-delay": "0",  # a replica need not wait for others to come
            **(settings or {}),
        }

    @classmethod
    def start(cls, settings: Mapping[str, str] | None = None) -> Self:
        """Start an empty server; the settings are those of `redis.conf`."""
        return cls(settings).begin()

    @property
    def address(self) -> str:
        """The URL of its database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def configuration(self) -> Path:
        """Its configuration; it rewrites the file itself when its role changes."""
        return self.data / "redis.conf"

    def ask(self, *words: str, patience: float = ASK_PATIENCE) -> str:
        """Send one command; the reply as it is on the wire."""
        return ask(self.port, *words, patience=patience)

    def leads(self) -> bool:
        """Whether it takes writes, and is nobody's replica."""
        return "role:master" in self.ask("INFO", "replication", patience=BRIEF)

    def wait_for_replicas(self) -> None:
        """Wait until it has a replica, and each has everything that was written so far.

        `WAIT` on a connection of its own does not do: it waits for that connection's writes.
        """
        deadline = time.monotonic() + COPY_PATIENCE
        written = OFFSET.search(self.ask("INFO", "replication"))
        assert written is not None
        while True:
            told = self.ask("INFO", "replication")
            copies = COPIED.findall(told)
            if copies and all(
                state == "online" and int(offset) >= int(written[1]) for state, offset in copies
            ):
                return
            if time.monotonic() > deadline:
                raise Broken(f"Its replicas do not catch up with {written[1]}:\n{told}")
            time.sleep(PAUSE)

    def fill(self) -> None:
        """Write its configuration."""
        super().fill()
        lines = [f"{name} {value}" for name, value in self._settings.items()]
        fixed = [f"port {self.port}", "bind 127.0.0.1", f"dir {self.data}"]
        self.configuration.write_text("\n".join([*fixed, *lines, ""]), encoding="utf-8")

    def _command(self) -> list[str]:
        return [str(self._program), str(self.configuration)]

    def _answers(self) -> bool:
        return self.ask("PING", patience=BRIEF) == "+PONG\r\n"


def ask(port: int, *words: str, patience: float = ASK_PATIENCE) -> str:
    """Send one command to a server on this machine; the beginning of its reply, as on the wire."""
    parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    with socket.create_connection(("127.0.0.1", port), patience) as connection:
        connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
        return connection.recv(65536).decode()
