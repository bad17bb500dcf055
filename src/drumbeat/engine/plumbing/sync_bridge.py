"""SyncBridge: lets code without an event loop call code with one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from drumbeat.model.errors import NotRunning

T = TypeVar("T")


class SyncBridge:
    """Runs coroutines for synchronous callers, on the app's loop if it runs, else on its own.

    The loop of its own lives in a daemon thread that starts with the first call.
    """

    def __init__(self) -> None:
        self._app_loop: asyncio.AbstractEventLoop | None = None
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def open(self) -> None:
        """The app runs on the calling loop from now on."""
        self._app_loop = asyncio.get_running_loop()

    def close(self) -> None:
        self._app_loop = None

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run the work and return its result, blocking the calling thread."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise NotRunning(
                "this thread runs an event loop, which a synchronous call would block; "
                "await the asynchronous form instead, such as task.submit(...)"
            )
        return asyncio.run_coroutine_threadsafe(work(), self._loop()).result()

    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._app_loop is not None and self._app_loop.is_running():
            return self._app_loop
        with self._lock:
            if self._own_loop is None:
                self._own_loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._own_loop.run_forever, name="drumbeat-bridge", daemon=True
                ).start()
            return self._own_loop
