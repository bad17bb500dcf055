"""EtcdCoordinator: leases, registry and configuration on one etcd cluster."""

from __future__ import annotations

from drumbeat.backends.etcd.connection.client import EtcdClient
from drumbeat.backends.etcd.coordinator.configuration import EtcdConfiguration
from drumbeat.backends.etcd.coordinator.leases import EtcdLeases
from drumbeat.backends.etcd.coordinator.registry import EtcdRegistry
from drumbeat.backends.http.address import AddressFormat, RemoteAddress
from drumbeat.backends.http.coordinator import HttpCoordinator
from drumbeat.backends.http.failover_client import FailoverClient
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.ports.runtime import Runtime

ADDRESS_FORMAT = AddressFormat("etcd", "etcd", "etcds", 2379)


class EtcdCoordinator(HttpCoordinator):
    """Coordinates the nodes that reach the cluster.

    The address is `etcd://[user:password@]host:2379[,host:2379...][/prefix]`, with `etcds://` for
    TLS and the options `ca`, `cert` and `key` for its files.
    """

    def __init__(self, address: str, runtime: Runtime, namespace: str = "drumbeat") -> None:
        remote = RemoteAddress.parse(address, ADDRESS_FORMAT)
        http = FailoverClient(remote, runtime.clock)
        client = EtcdClient(remote, http)
        keyspace = Keyspace(remote.prefix, namespace)
        self.leases = EtcdLeases(client, keyspace, runtime)
        self.registry = EtcdRegistry(client, keyspace, runtime.clock)
        self.configuration = EtcdConfiguration(client, keyspace, runtime.clock)
        super().__init__(http, self.leases)
