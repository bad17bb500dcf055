"""Watchers check a promise in every step, as it happens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar

from simulation.checkers.violation import Violation
from simulation.history import ExecutedRequest, History

Step = TypeVar("Step")


class Watcher(Generic[Step]):
    """Checks the steps of one kind, in order.

    Its docstring begins with the promise.
    """

    def __init__(self, history: History) -> None:
        self.history = history

    def see(self, step: Step) -> Iterator[Violation]:
        """The promises that this step broke."""
        raise NotImplementedError


class ServerWatcher(Watcher[ExecutedRequest]):
    """Checks some of the calls that the servers executed."""

    calls: ClassVar[frozenset[str]]
