"""Hints: wakes the subscribers of a topic after a step in which something happened to it."""

from __future__ import annotations

from collections.abc import Callable

from drumbeat.backends.listeners import ANY, Listener
from drumbeat.ports.store import Topic


class Hints:
    """The subscribers of each topic, and the topics noted in the present step."""

    def __init__(self) -> None:
        self._listeners: dict[Topic, tuple[Listener, ...]] = dict.fromkeys(Topic, ())
        self._noted: dict[Topic, None] = {}
        self.note = self._noted.setdefault
        """Remember, within a step, that the topic's subscribers are to be woken after it."""

    def subscribe(self, topic: Topic, wake: Callable[[], None]) -> Listener:
        listener = Listener(ANY, wake)
        self._listeners[topic] = (*self._listeners[topic], listener)
        return listener

    def unsubscribe(self, topic: Topic, listener: Listener) -> None:
        listener.topics = 0
        self._listeners[topic] = tuple(
            each for each in self._listeners[topic] if each is not listener
        )

    def renew(self) -> None:
        """Forget the subscribers, which are the parent's, in a forked process."""
        self._listeners = dict.fromkeys(Topic, ())
        self._noted.clear()

    def drain(self) -> list[Listener]:
        """Return the subscribers of the noted topics, and clear those."""
        if not self._noted:
            return []
        woken = [each for topic in self._noted for each in self._listeners[topic]]
        self._noted.clear()
        return woken
