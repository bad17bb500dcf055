"""Addresses: the backends of an app, as addresses or as objects."""

from __future__ import annotations

from dataclasses import dataclass

from drumbeat.config.config import Config
from drumbeat.model.errors import ConfigurationError
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.queue import Queue
from drumbeat.ports.store import Store


@dataclass(frozen=True, slots=True)
class Addresses:
    """What the user gave: addresses, or backends that exist already."""

    store: str | Store | None
    coordinator: str | Coordinator | None = None
    queue: str | Queue | None = None

    def by_name(self) -> dict[str, object]:
        return {"store": self.store, "coordinator": self.coordinator, "queue": self.queue}

    def check(self) -> None:
        """Reject values that are neither addresses nor backends."""
        for name, given in self.by_name().items():
            if not (given is None or isinstance(given, str) or hasattr(given, "close")):
                raise ConfigurationError(
                    f"{name} must be an address such as 'sqlite:///drumbeat.db', not {given!r}"
                )

    def under(self, config: Config) -> Addresses:
        """What to use: backends that the user made, else the addresses from the settings."""
        return Addresses(
            config.store if isinstance(self.store, str | None) else self.store,
            config.coordinator if isinstance(self.coordinator, str | None) else self.coordinator,
            config.queue if isinstance(self.queue, str | None) else self.queue,
        )
