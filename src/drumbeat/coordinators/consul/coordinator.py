"""The coordinator: the parts of the Consul coordinator, on one datacenter."""

from __future__ import annotations

from drumbeat.coordinators.consul.client import ConsulClient
from drumbeat.coordinators.consul.configuration import ConsulConfiguration
from drumbeat.coordinators.consul.domain import Domain
from drumbeat.coordinators.consul.keyspace import Keyspace
from drumbeat.coordinators.consul.leases import ConsulLeases
from drumbeat.coordinators.consul.registry import ConsulRegistry
from drumbeat.ports.runtime import Runtime
from drumbeat.remote.address import Kind, RemoteAddress
from drumbeat.remote.exchange import Exchange

KIND = Kind("Consul", "consul", "consuls", 8500, ("token", "dc"))


class ConsulCoordinator:
    """Appoints among the nodes that reach the datacenter, each through an agent.

    The address is `consul://[token@]host:8500[,host:8500...][/prefix]`, with `consuls://` for TLS
    and the options `ca`, `cert` and `key` for its files, `dc` and `token`.
    """

    def __init__(self, address: str, runtime: Runtime, namespace: str = "drumbeat") -> None:
        remote = RemoteAddress.parse(address, KIND)
        self._exchange = Exchange(remote, runtime.clock)
        client = ConsulClient(remote, self._exchange)
        keyspace = Keyspace(remote.prefix, namespace)
        self._domain = Domain(client, keyspace.domain, runtime)
        self._opened = False
        self.leases = ConsulLeases(client, runtime.clock, keyspace, self._domain)
        self.registry = ConsulRegistry(client, runtime.clock, keyspace)
        self.configuration = ConsulConfiguration(client, keyspace, runtime)

    async def open(self) -> None:
        """See that Consul answers and lets us write."""
        if not self._opened:
            await self._domain.make()
            self._opened = True

    async def close(self) -> None:
        """Let go of the connections; leases run out by themselves."""
        self._opened = False
        await self._exchange.close()
