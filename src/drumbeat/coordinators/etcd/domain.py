"""Domain: which etcd this is, also after it was emptied."""

from __future__ import annotations

from drumbeat.coordinators.etcd.client import EtcdClient
from drumbeat.coordinators.etcd.messages import Header, KeyValue
from drumbeat.coordinators.etcd.transaction import Transaction, created_at, get, put
from drumbeat.ports.runtime import Runtime
from drumbeat.remote.settling import Settling

BITS = 128


class Domain:
    """A random key that whoever comes first writes, and nobody ever changes."""

    def __init__(self, client: EtcdClient, key: str, runtime: Runtime) -> None:
        self._client = client
        self._random = runtime.random
        self.settling = Settling(runtime.clock)
        self.key = key

    async def make(self) -> None:
        """Write the key if it does not exist. Repeating it does no harm."""
        mark = f"{self._random.getrandbits(BITS):032x}".encode()
        look = get(self.key)
        done = await self._client.transact(
            Transaction((created_at(self.key, 0),), (put(self.key, mark), look), (look,))
        )
        found = done.found(-1)
        if found is not None:
            self.settling.see(self.name(done.header, found))

    @staticmethod
    def name(header: Header, mark: KeyValue) -> str:
        """The domain, as leases carry it."""
        return f"etcd-{header.cluster_id:x}-{mark.value.decode(errors='replace')}"
