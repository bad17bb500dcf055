"""ConsulCoordinator: leases, registry and configuration in one Consul datacenter."""

from __future__ import annotations

from drumbeat.backends.consul.connection.client import ConsulClient
from drumbeat.backends.consul.coordinator.configuration import ConsulConfiguration
from drumbeat.backends.consul.coordinator.leases import ConsulLeases
from drumbeat.backends.consul.coordinator.registry import ConsulRegistry
from drumbeat.backends.http.address import AddressFormat, RemoteAddress
from drumbeat.backends.http.coordinator import HttpCoordinator
from drumbeat.backends.http.failover_client import FailoverClient
from drumbeat.backends.http.keyspace import Keyspace
from drumbeat.ports.runtime import Runtime

ADDRESS_FORMAT = AddressFormat("Consul", "consul", "consuls", 8500, ("token", "dc"))


class ConsulCoordinator(HttpCoordinator):
    """Coordinates the nodes that reach the datacenter, each through an agent.

    The address is `consul://[token@]host:8500[,host:8500...][/prefix]`, with `consuls://` for TLS
    and the options `ca`, `cert` and `key` for its files, `dc` and `token`.
    """

    def __init__(self, address: str, runtime: Runtime, namespace: str = "drumbeat") -> None:
        remote = RemoteAddress.parse(address, ADDRESS_FORMAT)
        http = FailoverClient(remote, runtime.clock)
        client = ConsulClient(remote, http)
        keyspace = Keyspace(remote.prefix, namespace)
        self.leases = ConsulLeases(client, keyspace, runtime)
        self.registry = ConsulRegistry(client, keyspace, runtime.clock)
        self.configuration = ConsulConfiguration(client, keyspace, runtime)
        super().__init__(http, self.leases)
