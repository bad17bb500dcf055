"""Keyspace: which keys of Consul are ours."""

from __future__ import annotations

from urllib.parse import quote

from drumbeat.model.ids import NodeId


class Keyspace:
    """All keys begin with the prefix of the address and the namespace.

    Names are written with percent signs: Consul takes keys from the path of a URL and tidies that
    up, so that two slashes or two dots in a name would lead elsewhere.
    """

    def __init__(self, prefix: str, namespace: str) -> None:
        self._root = f"{prefix}{namespace}/"
        self.domain = f"{self._root}domain"
        self.nodes = f"{self._root}nodes/"

    def lease(self, name: str) -> str:
        """The key of an election or a lock."""
        return f"{self._root}leases/{_plain(name)}"

    def node(self, node: NodeId) -> str:
        """The key of a node."""
        return f"{self.nodes}{_plain(node)}"

    def configuration(self, key: str) -> str:
        """The key of a shared value."""
        return f"{self._root}configuration/{_plain(key)}"


def _plain(name: str) -> str:
    return name.replace(".", "%2E") if set(name) == {"."} else quote(name, safe="")
