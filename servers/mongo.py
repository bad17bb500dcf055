"""mongo-java-server, which speaks the protocol of MongoDB; `mongod` is in no package registry.

Operations on one document are atomic, as in MongoDB. It has no sessions, no transactions and no
updates by a pipeline, and a unique index ignores its partial filter. On disk, a command with
several writes is applied whole or not at all, which MongoDB does not promise.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection
from typing import Any, Self

import bson

from servers.packages import MONGO
from servers.server import Server

MAIN = "MongoServerForTests"
HEAP = "-Xmx256m"
MESSAGE = 2013
"""The operation code of all messages."""
HEADER = struct.Struct("<iiii")
FLAGS = bytes(5)
"""What precedes the document of a message: four bytes of flags and one for its kind."""
DECODE: Callable[[bytes], dict[str, Any]] = getattr(bson, "decode")  # noqa: B009 - its types are partial
PATIENCE = 30.0
BRIEF = 5.0
"""The time-out of repeated queries to a server that may not be ready."""
REPLICA_SET = {"replica-set": "rs0"}
"""Settings of a server that is the only member of a replica set, and has change streams."""


class Mongo(Server):
    """One server. It keeps its data in memory, or in a file that loses nothing when it is killed.

    The settings are the options of `MongoServerForTests`, without dashes: `version` and `wire`,
    `replica-set`, `certificate` and `key`.
    """

    name = "mongo-java-server"

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._program = MONGO.require()
        super().__init__()
        self._settings = {"version": "5.0.0", "wire": "13", **settings}

    @classmethod
    def start(cls, settings: Mapping[str, str] | None = None) -> Self:
        """Start an empty server that keeps its data in a file."""
        return cls(settings or {}).begin()

    @property
    def address(self) -> str:
        """The URL of its database `test`."""
        return f"mongodb://127.0.0.1:{self.port}/test"

    @property
    def file(self) -> Path | None:
        """Where it keeps its data; None: in memory."""
        return self.data / "store"

    def _command(self) -> list[str]:
        options = {"port": str(self.port), **self._settings}
        if self.file is not None:
            options["file"] = str(self.file)
        return [
            str(self._program),
            *(HEAP, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"),
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            *("-cp", MONGO.classes, MAIN),
            *(part for name, value in options.items() for part in (f"--{name}", value)),
        ]

    def ask(self, command: Mapping[str, object], patience: float = PATIENCE) -> Mapping[str, Any]:
        """Send a command to the database `admin`; returns the reply."""
        document = bson.encode({**command, "$db": "admin"})
        body = FLAGS + document
        with create_connection(("127.0.0.1", self.port), patience) as connection:
            connection.sendall(HEADER.pack(HEADER.size + len(body), 1, 0, MESSAGE) + body)
            reply = connection.makefile("rb")
            header = reply.read(HEADER.size)
            if len(header) < HEADER.size:
                raise ConnectionError(f"port {self.port} closed the connection")
            length = HEADER.unpack(header)[0]
            return DECODE(reply.read(length - HEADER.size)[len(FLAGS) :])

    def fail(
        self, commands: Sequence[str], how: Mapping[str, object], times: int | None = None
    ) -> None:
        """Make commands fail, as the fail point `failCommand` of mongod does.

        `how` is `{"errorCode": 13}`, `{"closeConnection": True}`, or
        `{"writeConcernError": {...}}`, which is reported after the write was made. None: until
        `heal`.
        """
        mode = "alwaysOn" if times is None else {"times": times}
        data = {"failCommands": list(commands), **how}
        self.ask({"configureFailPoint": "failCommand", "mode": mode, "data": data})

    def heal(self) -> None:
        """Let all commands work again."""
        self.ask({"configureFailPoint": "failCommand", "mode": "off"})

    def _answers(self) -> bool:
        if "key" in self._settings:  # it speaks TLS, which the clients have to try
            create_connection(("127.0.0.1", self.port), BRIEF).close()
            return True
        return bool(self.ask({"ping": 1}, BRIEF)["ok"] == 1)


class MongoInMemory(Mongo):
    """A server that keeps nothing when it ends, and answers writes without waiting for a disk."""

    @property
    def file(self) -> Path | None:
        return None


@dataclass(frozen=True, slots=True)
class GivenMongo:
    """A server that runs already, such as your own one."""

    address: str
