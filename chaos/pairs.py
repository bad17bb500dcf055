"""The pairs of a store and a coordinator that fleets run on, as real servers and a small disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias

from chaos.disk import SmallDisk
from servers import Consul, Etcd, FaultProxy, Postgres, Redis
from servers.closeable import Closeable

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
"""The default pairs."""
FORGETFUL = frozenset({"redis", "etcd", "consul"})
"""Coordinators that may lose a granted term in a crash, or that are emptied on purpose."""


def all_pairs() -> tuple[str, ...]:
    """Every store, alone and with every coordinator."""
    return tuple(
        f"{store}+{other}" if other else store for store in STORES for other in ("", *COORDINATORS)
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

    def close(self) -> None:
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
    return ProxiedServer(f"{server.address.partition(':')[0]}://{hosts}", proxies)
