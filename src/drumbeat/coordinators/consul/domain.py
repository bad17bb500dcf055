"""Domain: which Consul this is, also after it was emptied."""

from __future__ import annotations

from drumbeat.coordinators.consul.client import ConsulClient, Objected
from drumbeat.coordinators.consul.messages import KeyValue, get, swap
from drumbeat.ports.runtime import Runtime
from drumbeat.remote.settling import Settling

BITS = 128


class Domain:
    """A random key that whoever comes first writes, and nobody ever changes."""

    def __init__(self, client: ConsulClient, key: str, runtime: Runtime) -> None:
        self._client = client
        self._random = runtime.random
        self.settling = Settling(runtime.clock)
        self.key = key

    async def make(self) -> None:
        """Write the key if it does not exist. Repeating it does no harm."""
        mark = f"{self._random.getrandbits(BITS):032x}".encode()
        await self._client.transact(swap(self.key, mark, 0))
        done = await self._client.read(get(self.key))
        if not isinstance(done, Objected):
            self.settling.see(self.name(done[0]))

    @staticmethod
    def name(mark: KeyValue) -> str:
        """The domain, as leases carry it."""
        return f"consul-{(mark.value or b'').decode(errors='replace')}"
