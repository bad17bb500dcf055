"""Keys of the Redis coordinator. One hash tag puts all of them on one server."""

from __future__ import annotations


class Keys:
    """The keys of one namespace."""

    def __init__(self, namespace: str) -> None:
        self._prefix = prefix = f"{{{namespace}}}:"
        self.domain = f"{prefix}domain"
        """The identity of this coordinator."""
        self.number = f"{prefix}number"
        """The last token or revision."""
        self.history = f"{prefix}history"
        """The identity of the server's history, and since when it has had it."""
        self.pause = f"{prefix}pause"
        """Exists while the server grants no terms."""
        self.nodes = (f"{prefix}nodes", f"{prefix}nodes:ends")
        """The entries of the nodes, and when they expire."""
        self.channel = f"{prefix}news"
        """The channel on which changes are published."""

    def term(self, name: str) -> str:
        return f"{self._prefix}lease:{name}"

    def entry(self, key: str) -> str:
        return f"{self._prefix}configuration:{key}"
