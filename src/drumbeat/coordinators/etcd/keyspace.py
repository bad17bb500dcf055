"""Keyspace: which keys of a cluster are ours."""

from __future__ import annotations

from drumbeat.coordinators.etcd.transaction import Keys
from drumbeat.model.ids import NodeId


class Keyspace:
    """All keys begin with the prefix of the address and the namespace."""

    def __init__(self, prefix: str, namespace: str) -> None:
        self._root = f"{prefix}{namespace}/"
        self.domain = f"{self._root}domain"
        self.nodes = Keys.below(f"{self._root}nodes/")

    def lease(self, name: str) -> str:
        """The key of an election or a lock."""
        return f"{self._root}leases/{name}"

    def node(self, node: NodeId) -> str:
        """The key of a node."""
        return f"{self._root}nodes/{node}"

    def configuration(self, key: str) -> str:
        """The key of a shared value."""
        return f"{self._root}configuration/{key}"
