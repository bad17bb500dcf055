"""Sentinels: asks where the primary is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from redis.exceptions import ConnectionError as NoConnection

from drumbeat.backends.redis.connection.address import Address
from drumbeat.backends.redis.connection.failures import FAILURES
from drumbeat.backends.redis.connection.library import make_pool

ANSWER_WITHIN = 1.0
"""Seconds that each Sentinel has to answer before the next one is asked."""


class Sentinels:
    """Asks one Sentinel after the other, starting with the one that answered last."""

    def __init__(self, address: Address, options: Mapping[str, object]) -> None:
        self._pools = [make_pool(host=host, port=port, **options) for host, port in address.hosts]

    async def discover_master(self, name: str) -> tuple[str, int]:
        reasons: list[str] = []
        for pool in tuple(self._pools):
            try:
                async with asyncio.timeout(ANSWER_WITHIN):
                    found = await pool.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)
            except FAILURES as error:
                reasons.append(str(error) or "no answer")
                continue
            if found is None:
                reasons.append(f"it does not know {name!r}")
                continue
            self._pools.remove(pool)
            self._pools.insert(0, pool)
            host, port = found
            return host.decode(), int(port)
        raise NoConnection(f"no Sentinel knows the primary {name!r}: {'; '.join(reasons)}")

    async def close(self) -> None:
        for pool in self._pools:
            await pool.aclose()
