"""Watchers: promises that are looked after in every step, as soon as it has happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from simulation.checkers.violation import Violation
from simulation.history import Applied, History

Step = TypeVar("Step")


class Watcher(Generic[Step]):
    """Sees the steps of one kind, in their order, and says at once which of them broke a promise.

    Its docstring begins with the promise.
    """

    def __init__(self, history: History) -> None:
        self.history = history

    def see(self, step: Step) -> Iterator[Violation]:
        """The promises that this step broke."""
        raise NotImplementedError


class ServerWatcher(Watcher[Applied]):
    """Sees some of the calls that the servers carried out."""

    calls: ClassVar[frozenset[str]]
