"""The parts of a coordinator on an HTTP server that do not depend on which server it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drumbeat.backends.http.domain import Domain
from drumbeat.backends.http.failover_client import FailoverClient
from drumbeat.model.encoding.document import node_from_text
from drumbeat.model.fleet.node import Node


class HttpCoordinator:
    """Opens by checking that the server answers and that we may write there."""

    def __init__(self, http: FailoverClient, domain: Domain) -> None:
        self._http = http
        self._domain = domain
        self._opened = False

    async def open(self) -> None:
        if not self._opened:
            await self._domain.make()
            self._opened = True

    async def close(self) -> None:
        self._opened = False
        await self._http.close()


def nodes_of(values: Iterable[bytes]) -> Sequence[Node]:
    """The nodes of the registry's entries, ordered by identity."""
    nodes = (node_from_text(value.decode()) for value in values)
    return sorted(nodes, key=lambda node: node.id)
