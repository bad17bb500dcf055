"""Domain: which etcd this is, also after it was emptied."""

from __future__ import annotations

from drumbeat.coordinators.etcd.client import EtcdClient
from drumbeat.coordinators.etcd.messages import Header, KeyValue
from drumbeat.coordinators.etcd.transaction import Transaction, created_at, put
from drumbeat.ports.runtime import Runtime

BITS = 128


class Domain:
    """A random key that whoever comes first writes, and nobody ever changes."""

    def __init__(self, client: EtcdClient, key: str, runtime: Runtime) -> None:
        self._client = client
        self._random = runtime.random
        self.key = key

    async def make(self) -> None:
        """Write the key if it does not exist. Repeating it does no harm."""
        mark = f"{self._random.getrandbits(BITS):032x}".encode()
        await self._client.transact(Transaction((created_at(self.key, 0),), (put(self.key, mark),)))

    @staticmethod
    def name(header: Header, mark: KeyValue) -> str:
        """The domain, as leases carry it."""
        return f"etcd-{header.cluster_id:x}-{mark.value.decode(errors='replace')}"
