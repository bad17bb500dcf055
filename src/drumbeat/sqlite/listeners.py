"""Listeners: who wants to be woken by which news, and on which event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Lock


class Listener:
    """One of them: compared by identity, so the same call may listen twice."""

    __slots__ = ("loop", "news", "wake")

    def __init__(self, news: int, wake: Callable[[], None]) -> None:
        self.news = news
        self.wake = wake
        self.loop = running_loop()

    def call(self) -> None:
        """Call it on its own loop; one that has no loop is called right away."""
        if self.loop is None:
            self.wake()
        else:
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens there
                self.loop.call_soon_threadsafe(self._call_if_still_there)

    def _call_if_still_there(self) -> None:
        if self.news:
            self.wake()


class Listeners:
    """Those of one handle. They may come and go in any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._all: tuple[Listener, ...] = ()
        self.heard = 0
        """The news that anybody listens to."""

    def add(self, news: int, wake: Callable[[], None]) -> Callable[[], None]:
        """Wake from now on; the call that is returned ends it."""
        listener = Listener(news, wake)
        with self._lock:
            self._set((*self._all, listener))

        def remove() -> None:
            listener.news = 0  # also for a call that is on its way
            with self._lock:
                self._set(tuple(each for each in self._all if each is not listener))

        return remove

    def wake(self, news: int) -> None:
        """Wake everyone who listens to any of the news."""
        if not news & self.heard:
            return
        for listener in self._all:
            if listener.news & news:
                listener.call()

    def _set(self, listeners: tuple[Listener, ...]) -> None:
        self._all = listeners
        heard = 0
        for listener in listeners:
            heard |= listener.news
        self.heard = heard


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the calling thread, if one runs there."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
