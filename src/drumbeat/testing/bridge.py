"""The bridge of an isolated app: synchronous calls run on a loop that ends with the test."""

from __future__ import annotations

import asyncio
import threading

from drumbeat.engine.plumbing.sync_bridge import SyncBridge


class TemporaryBridge(SyncBridge):
    """A bridge whose own loop and thread can be ended."""

    def __init__(self) -> None:
        super().__init__()
        self._ending: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._thread: threading.Thread | None = None

    def end(self) -> None:
        """Cancel what still runs on the loop of its own, and end its thread."""
        if self._thread is None or self._ending is None:
            return
        loop, ending = self._ending
        loop.call_soon_threadsafe(ending.set)
        self._thread.join()

    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._app_loop is not None and self._app_loop.is_running():
            return self._app_loop
        with self._lock:
            if self._ending is None:
                started = threading.Event()
                self._thread = threading.Thread(
                    target=lambda: asyncio.run(self._run(started)),
                    name="drumbeat-test-bridge",
                    daemon=True,
                )
                self._thread.start()
                started.wait()
            assert self._ending is not None
            return self._ending[0]

    async def _run(self, started: threading.Event) -> None:
        ending = asyncio.Event()
        self._ending = asyncio.get_running_loop(), ending
        started.set()
        await ending.wait()
