"""Keyspace: the keys that a fleet uses on a shared server."""

from __future__ import annotations

from urllib.parse import quote

from drumbeat.model.ids import NodeId


class Keyspace:
    """All keys begin with the prefix of the address and the namespace.

    Names are percent-encoded: Consul takes keys from the path of a URL and normalises that path, so
    two slashes or dots in a name would lead to another key.
    """

    def __init__(self, prefix: str, namespace: str) -> None:
        self._root = f"{prefix}{namespace}/"
        self.domain = f"{self._root}domain"
        self.nodes = f"{self._root}nodes/"

    def lease(self, name: str) -> str:
        """The key of an election or a lock."""
        return f"{self._root}leases/{_encoded(name)}"

    def node(self, node: NodeId) -> str:
        return f"{self.nodes}{_encoded(node)}"

    def configuration(self, key: str) -> str:
        return f"{self._root}configuration/{_encoded(key)}"


def _encoded(name: str) -> str:
    return name.replace(".", "%2E") if set(name) == {"."} else quote(name, safe="")
