"""Process hooks: what an app does when its process becomes a node, and when it stops being one."""

from __future__ import annotations

import asyncio

from drumbeat.engine.executing.threads import Threads
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.time_outs import is_own_cancellation
from drumbeat.engine.tasks.hooks import Hook, Hooks
from drumbeat.model.errors import StartHookFailed
from drumbeat.model.events import HookFailed


class ProcessHooks:
    """Calls the hooks of one app: `on_start` in order, `on_stop` in reverse."""

    def __init__(self, hooks: Hooks, bus: Bus) -> None:
        self._hooks = hooks
        self._bus = bus

    async def start(self) -> None:
        """Call the start hooks, unless they were called for this start already.

        Raises `StartHookFailed` at the first that fails. The stop hooks are not called then.
        """
        if self._hooks.started:
            return
        for hook in self._hooks.on_start:
            try:
                await _call(hook)
            except Exception as error:
                self._bus.emit(HookFailed(str(hook), error))
                raise StartHookFailed(str(hook), error) from error
        self._hooks.started = True

    async def stop(self) -> None:
        """Call the stop hooks if all start hooks were called. One that fails stops no other."""
        if not self._hooks.started:
            return
        self._hooks.started = False
        for hook in reversed(self._hooks.on_stop):
            try:
                await _call(hook)
            except (Exception, asyncio.CancelledError) as error:
                if is_own_cancellation(error):
                    raise
                self._bus.emit(HookFailed(str(hook), error))


async def _call(hook: Hook) -> None:
    if hook.asynchronous:
        await hook.function()
        return
    threads = Threads()  # a plain function may block, and Django refuses to work on an event loop
    try:
        hook.refuse_awaitable(await threads.call(hook.function))
    finally:
        threads.close()
