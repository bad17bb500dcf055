"""Keys of the Redis coordinator. One hash tag puts all of them on one server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one namespace."""

    namespace: str

    def term(self, name: str) -> str:
        return self._key(f"lease:{name}")

    def entry(self, key: str) -> str:
        return self._key(f"configuration:{key}")

    @property
    def domain(self) -> str:
        """The identity of this coordinator."""
        return self._key("domain")

    @property
    def number(self) -> str:
        """The last token or revision."""
        return self._key("number")

    @property
    def history(self) -> str:
        """The identity of the server's history, and since when it has had it."""
        return self._key("history")

    @property
    def pause(self) -> str:
        """Exists while the server grants no terms."""
        return self._key("pause")

    @property
    def nodes(self) -> tuple[str, str]:
        """The entries of the nodes, and when they expire."""
        return self._key("nodes"), self._key("nodes:ends")

    @property
    def channel(self) -> str:
        """The channel on which changes are published."""
        return self._key("news")

    def _key(self, rest: str) -> str:
        return f"{{{self.namespace}}}:{rest}"
