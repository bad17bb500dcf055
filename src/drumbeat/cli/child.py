"""Children: processes of our own that run a node, on a leash.

A child is in a session of its own, so that a Ctrl-C on the terminal reaches only its parent, which
passes it on: a signal that came twice would cut the grace short. It holds one end of a pipe whose
other end is ours; if we are killed, the pipe ends, and the child drains.
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
        self._leash = -1

    @property
    def number(self) -> int:
        """Its process number."""
        assert self._process is not None, "it was started"
        return self._process.pid

    async def start(self) -> None:
        """Start the process."""
        held, self._leash = os.pipe()
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
        if self._leash >= 0:
            os.close(self._leash)
            self._leash = -1
        return code
