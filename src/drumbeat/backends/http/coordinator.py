"""HttpCoordinator: opens and closes a coordinator on an HTTP server."""

from __future__ import annotations

from drumbeat.backends.http.bonds import Bond
from drumbeat.backends.http.failover_client import FailoverClient
from drumbeat.backends.http.leases import HttpLeases


class HttpCoordinator:
    """Opens by checking that the server answers and that we may write there."""

    def __init__(self, http: FailoverClient, leases: HttpLeases[Bond]) -> None:
        self._http = http
        self._make_domain = leases.make_domain
        self._opened = False

    async def open(self) -> None:
        if not self._opened:
            await self._make_domain()
            self._opened = True

    async def close(self) -> None:
        self._opened = False
        await self._http.close()
