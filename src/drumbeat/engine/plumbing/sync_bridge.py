"""SyncBridge: lets code without an event loop call the app."""

from __future__ import annotations

import asyncio
import logging

from drumbeat.blocking.loop_thread import LoopThread
from drumbeat.forks import leave_to_parent

_log = logging.getLogger("drumbeat")


class SyncBridge(LoopThread):
    """Runs coroutines for synchronous callers, on the app's loop if it runs, else on its own."""

    def __init__(self) -> None:
        super().__init__(
            "drumbeat-bridge",
            "await the asynchronous form instead, such as task.submit(...) or app.jobs.wait(...)",
        )
        self._app_loop: asyncio.AbstractEventLoop | None = None
        self._ran_in_parent = False

    @property
    def is_elsewhere(self) -> bool:
        """Whether the app runs on another loop than the one that runs here."""
        return self._app_loop not in (None, asyncio.get_running_loop())

    def open(self) -> None:
        """The app runs on the calling loop from now on."""
        self._app_loop = asyncio.get_running_loop()
        self._ran_in_parent = False

    def leave(self) -> None:
        """The app has stopped: from now on calls run on a loop of their own."""
        self._app_loop = None

    def loop(self) -> asyncio.AbstractEventLoop:
        if self._app_loop is not None and self._app_loop.is_running():
            return self._app_loop
        if self._ran_in_parent:
            self._ran_in_parent = False
            _log.info(
                "This process was forked from a running node: the node runs in the parent only, "
                "so jobs that are submitted here run there"
            )
        return super().loop()

    def _renew(self) -> None:
        super()._renew()
        leave_to_parent(self._app_loop)
        self._ran_in_parent = self._ran_in_parent or self._app_loop is not None
        self._app_loop = None
