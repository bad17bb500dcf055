"""Child processes that run a node, and drain when their parent dies.

A child has its own session, so that Ctrl-C on the terminal reaches only the parent, which passes it
on: receiving the signal twice would cut the grace short. Parent and child hold the two ends of a
pipe; if the parent is killed, the pipe closes, and the child drains.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence


class Child:
    """One process that runs `drumbeat` with some arguments."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None
        self._pipe = -1

    @property
    def number(self) -> int:
        assert self._process is not None, "it was started"
        return self._process.pid

    async def start(self) -> None:
        held, self._pipe = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "drumbeat",
                *self._arguments,
                "--supervised",
                str(held),
                pass_fds=(held,),
                start_new_session=True,
            )
        finally:
            os.close(held)

    def signal(self, number: signal.Signals) -> None:
        """Pass a signal on; harmless if it has ended."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def ended(self) -> int:
        """Its exit code, once it has ended; negative if a signal ended it."""
        assert self._process is not None, "it was started"
        code = await self._process.wait()
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        return code
