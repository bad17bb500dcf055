"""The coordinator: the parts of the etcd coordinator, on one cluster."""

from __future__ import annotations

from drumbeat.coordinators.etcd.client import EtcdClient
from drumbeat.coordinators.etcd.configuration import EtcdConfiguration
from drumbeat.coordinators.etcd.domain import Domain
from drumbeat.coordinators.etcd.hints import Watcher
from drumbeat.coordinators.etcd.keyspace import Keyspace
from drumbeat.coordinators.etcd.leases import EtcdLeases
from drumbeat.coordinators.etcd.registry import EtcdRegistry
from drumbeat.ports.runtime import Runtime
from drumbeat.remote.address import Kind, RemoteAddress
from drumbeat.remote.exchange import Exchange

KIND = Kind("etcd", "etcd", "etcds", 2379)


class EtcdCoordinator:
    """Appoints among the nodes that reach the cluster.

    The address is `etcd://[user:password@]host:2379[,host:2379...][/prefix]`, with `etcds://` for
    TLS and the options `ca`, `cert` and `key` for its files.
    """

    def __init__(self, address: str, runtime: Runtime, namespace: str = "drumbeat") -> None:
        remote = RemoteAddress.parse(address, KIND)
        self._exchange = Exchange(remote, runtime.clock)
        client = EtcdClient(remote, self._exchange)
        watcher = Watcher(client, runtime.clock)
        keyspace = Keyspace(remote.prefix, namespace)
        self._domain = Domain(client, keyspace.domain, runtime)
        self._opened = False
        self.leases = EtcdLeases(client, watcher, keyspace, self._domain)
        self.registry = EtcdRegistry(client, watcher, keyspace)
        self.configuration = EtcdConfiguration(client, watcher, keyspace)

    async def open(self) -> None:
        """See that the cluster answers and lets us write."""
        if not self._opened:
            await self._domain.make()
            self._opened = True

    async def close(self) -> None:
        """Let go of the connections; leases run out by themselves."""
        self._opened = False
        await self._exchange.close()
