"""The pairs of a store and a coordinator that fleets run on, as real servers and a small disk.

A third server between the two is a queue. Such a fleet is a cluster: its nodes have a role each,
and its jobs are submitted over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

from chaos.disk import SmallDisk
from servers import Consul, Etcd, FaultProxy, Mongo, Postgres, Redis
from servers.closeable import Closeable

AnyServer: TypeAlias = Postgres | Mongo | Redis | Etcd | Consul

STARTS: Mapping[str, Callable[[], AnyServer]] = {
    "postgres": Postgres.start,
    "mongo": Mongo.start,
    "redis": Redis.start,
    "etcd": lambda: Etcd.start(nodes=3),
    "consul": Consul.start,
}
STORES = ("sqlite", "postgres", "mongo")
COORDINATORS = ("mongo", "redis", "etcd", "consul")
PAIRS = ("sqlite", "postgres", "mongo", "postgres+etcd", "postgres+redis", "postgres+consul")
"""The default pairs."""
CLUSTER = "postgres+redis+etcd"
"""A store, a queue and a coordinator."""
SCHEDULERS = 2
"""How many nodes of a cluster schedule and serve HTTP; the others work."""
FORGETFUL = frozenset({"mongo", "redis", "etcd", "consul"})
"""Coordinators that may lose a granted term in a crash, or that are emptied on purpose."""


def all_pairs() -> tuple[str, ...]:
    """Every store, alone and with every coordinator, and the cluster."""
    pairs = (
        f"{store}+{other}" if other else store
        for store in STORES
        for other in ("", *COORDINATORS)
        if other != store
    )
    return (*pairs, CLUSTER)


@dataclass(frozen=True, slots=True)
class Parts:
    """The names of the servers of a pair."""

    store: str
    coordinator: str | None
    queue: str | None

    @classmethod
    def of(cls, pair: str) -> Parts:
        """The parts of a pair: a store, a store and a coordinator, or with a queue between them."""
        store, *others = pair.split("+")
        return cls(store, others[-1] if others else None, others[0] if len(others) > 1 else None)

    def labels(self, nodes: int) -> tuple[str, ...]:
        """The nodes of a fleet of this size."""
        if self.queue is None:
            return tuple(f"node-{number}" for number in range(1, nodes + 1))
        return (
            *(f"scheduler-{number}" for number in range(1, SCHEDULERS + 1)),
            *(f"worker-{number}" for number in range(1, max(2, nodes - SCHEDULERS + 1))),
        )


@dataclass(frozen=True, slots=True)
class ProxiedServer:
    """The proxies of one node to all members of one server, and their common address."""

    address: str
    proxies: Sequence[FaultProxy]


class PairBackends(Closeable):
    """The servers or the disk of a pair. A context manager, which stops them."""

    def __init__(self, pair: str) -> None:
        self.pair = pair
        self.parts = Parts.of(pair)
        self.disk: SmallDisk | None = None
        self.servers: dict[str, AnyServer] = {}
        self._stack = ExitStack()
        try:
            self._build()
        except BaseException:
            self._stack.close()
            raise
        self._coordinator = self.parts.coordinator or self.parts.store

    def _build(self) -> None:
        if self.parts.store == "sqlite":
            self.disk = self._stack.enter_context(SmallDisk())
        for name in (self.parts.store, self.parts.queue, self.parts.coordinator):
            if name is not None and name in STARTS:
                server = STARTS[name]()
                self._stack.callback(server.close)
                self.servers[name] = server

    def close(self) -> None:
        self._stack.close()

    @property
    def store(self) -> str:
        """The address of the store."""
        if self.disk is not None:
            return f"sqlite:///{self.disk.path}"
        return self.servers[self.parts.store].address

    @property
    def queue(self) -> str | None:
        """The address of the queue, if it is not the store."""
        return None if self.parts.queue is None else self.servers[self.parts.queue].address

    @property
    def coordinator(self) -> str | None:
        """The address of the coordinator, if it is not the store."""
        return None if self._coordinator == self.parts.store else self._elector().address

    @property
    def forgetful(self) -> str | None:
        """The name of the coordinator, if it may forget terms when it is killed."""
        apart = self._coordinator != self.parts.store
        return self._coordinator if apart and self._coordinator in FORGETFUL else None

    def longest_term(self, ttl: float) -> float:
        """The longest time that a dead leader's term may last."""
        return longest_term(self._coordinator, ttl)

    def proxied_servers(self) -> dict[str, ProxiedServer]:
        """New proxies for one node, by the name of their server."""
        return {name: proxied(server, self._stack) for name, server in self.servers.items()}

    def _elector(self) -> AnyServer:
        return self.servers[self._coordinator]


def longest_term(coordinator: str, ttl: float) -> float:
    """The longest time that a dead leader's term may last: Consul may double the TTL."""
    return 2 * ttl if coordinator == "consul" else ttl


def proxied(server: AnyServer, stack: ExitStack) -> ProxiedServer:
    """Start a proxy for each member of a server; the stack closes them."""
    members = server.members if isinstance(server, Etcd | Consul) else [server]
    proxies = [stack.enter_context(FaultProxy.start(each.port)) for each in members]
    hosts = ",".join(f"127.0.0.1:{proxy.port}" for proxy in proxies)
    if isinstance(server, Postgres):
        return ProxiedServer(f"postgresql://postgres@{hosts}/postgres", proxies)
    if isinstance(server, Mongo):  # each proxy is an address of the one server
        return ProxiedServer(f"mongodb://{hosts}/test", proxies)
    return ProxiedServer(f"{server.address.partition(':')[0]}://{hosts}", proxies)
