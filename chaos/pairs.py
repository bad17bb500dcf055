"""Pairs: on which store and by which coordinator a fleet runs, as real servers and a small disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from chaos.disk import SmallDisk
from servers import Consul, Etcd, FaultProxy, Postgres, Redis

AnyServer: TypeAlias = Postgres | Redis | Etcd | Consul

STARTS: Mapping[str, Callable[[], AnyServer]] = {
    "postgres": Postgres.start,
    "redis": Redis.start,
    "etcd": lambda: Etcd.start(nodes=3),
    "consul": Consul.start,
}
STORES = ("sqlite", "postgres")
COORDINATORS = ("redis", "etcd", "consul")
PAIRS = ("sqlite", "postgres", "postgres+etcd", "postgres+redis", "postgres+consul")
"""Those of a run that names none."""
FORGETFUL = frozenset({"redis", "etcd", "consul"})
"""May come back from a crash without a term that they had granted, or are emptied on purpose."""


def all_pairs() -> tuple[str, ...]:
    """Every store, alone and with every coordinator."""
    return tuple(
        f"{store}+{other}" if other else store for store in STORES for other in ("", *COORDINATORS)
    )


@dataclass(frozen=True, slots=True)
class Line:
    """The wires of one node to all members of one server."""

    address: str
    wires: Sequence[FaultProxy]


class Ground:
    """What a fleet stands on: its servers, or its disk. As a context manager it is taken down."""

    def __init__(self, pair: str) -> None:
        self.pair = pair
        store, _, coordinator = pair.partition("+")
        self.disk: SmallDisk | None = None
        self.servers: dict[str, AnyServer] = {}
        self._stack = ExitStack()
        try:
            self._build(store, coordinator)
        except BaseException:
            self._stack.close()
            raise
        self._store = store
        self._coordinator = coordinator or store

    def _build(self, store: str, coordinator: str) -> None:
        if store == "sqlite":
            self.disk = self._stack.enter_context(SmallDisk())
        for name in (store, coordinator):
            if name in STARTS:
                server = STARTS[name]()
                self._stack.callback(server.close)
                self.servers[name] = server

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def store(self) -> str:
        """The address of the store."""
        if self.disk is not None:
            return f"sqlite:///{self.disk.path}"
        return self.servers[self._store].address

    @property
    def coordinator(self) -> str | None:
        """The address of the coordinator, if it is not the store."""
        return None if self._coordinator == self._store else self._elector().address

    @property
    def forgetful(self) -> str | None:
        """The name of the coordinator, if it may forget terms when it is killed."""
        return self._coordinator if self._coordinator in FORGETFUL else None

    def longest_term(self, ttl: float) -> float:
        """How long a dead leader's term may stand; the TTL of Consul is a lower bound."""
        return 2 * ttl if self._coordinator == "consul" else ttl

    def lines(self) -> dict[str, Line]:
        """New wires for one node, by the name of the server that they lead to."""
        return {name: self._line(server) for name, server in self.servers.items()}

    def _line(self, server: AnyServer) -> Line:
        members = server.members if isinstance(server, Etcd | Consul) else [server]
        wires = [self._stack.enter_context(FaultProxy.start(each.port)) for each in members]
        hosts = ",".join(f"127.0.0.1:{wire.port}" for wire in wires)
        if isinstance(server, Postgres):
            return Line(f"postgresql://postgres@{hosts}/postgres", wires)
        return Line(f"{server.address.partition(':')[0]}://{hosts}", wires)

    def _elector(self) -> AnyServer:
        return self.servers[self._coordinator]
