"""Redis with an append-only file that is flushed once a second."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from servers.packages import REDIS, Package
from servers.server import Server, ServerFailed

ASK_PATIENCE = 30.0
BRIEF = 5.0
"""The time-out of repeated queries to a server that may not be ready."""
COPY_PATIENCE = 90.0
PAUSE = 0.02
OFFSET = re.compile(r"master_repl_offset:(\d+)")
COPIED = re.compile(r"^slave\d+:.*state=(\w+),offset=(\d+)", re.MULTILINE)


class Redis(Server):
    """A Redis server. A kill may lose the last acknowledged second."""

    name = "Redis"
    package: ClassVar[Package] = REDIS

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._program = self.package.require()
        super().__init__()
        self._settings = {
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            "repl-diskless-sync-delay": "0",  # do not wait for more replicas
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
        """Its configuration file, which Redis rewrites when its role changes."""
        return self.data / "redis.conf"

    def ask(self, *words: str, patience: float = ASK_PATIENCE) -> str:
        """Send a command; returns the raw reply."""
        return ask(self.port, *words, patience=patience)

    def leads(self) -> bool:
        """Whether it is a primary."""
        return "role:master" in self.ask("INFO", "replication", patience=BRIEF)

    def wait_for_replicas(self) -> None:
        """Wait until it has a replica, and each replica has all writes so far.

        `WAIT` does not help, because it waits only for the writes of its own connection.
        """
        deadline = time.monotonic() + COPY_PATIENCE
        written = OFFSET.search(self.ask("INFO", "replication"))
        assert written is not None
        while True:
            state_of_replicas = self.ask("INFO", "replication")
            copies = COPIED.findall(state_of_replicas)
            if copies and all(
                state == "online" and int(offset) >= int(written[1]) for state, offset in copies
            ):
                return
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"The replicas do not catch up with {written[1]}:\n{state_of_replicas}"
                )
            time.sleep(PAUSE)

    def fill(self) -> None:
        super().fill()
        lines = [f"{name} {value}" for name, value in self._settings.items()]
        fixed = [f"port {self.port}", "bind 127.0.0.1", f"dir {self.data}"]
        self.configuration.write_text("\n".join([*fixed, *lines, ""]), encoding="utf-8")

    def _command(self) -> list[str]:
        return [str(self._program), str(self.configuration)]

    def _answers(self) -> bool:
        return self.ask("PING", patience=BRIEF) == "+PONG\r\n"


def ask(port: int, *words: str, patience: float = ASK_PATIENCE) -> str:
    """Send a command to a server on this machine; returns the beginning of the raw reply."""
    parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    with socket.create_connection(("127.0.0.1", port), patience) as connection:
        connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
        return connection.recv(65536).decode()
