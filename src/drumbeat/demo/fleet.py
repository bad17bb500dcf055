"""The fleet: the demo's processes, which can be killed and paused."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from types import TracebackType
from typing import Self

from drumbeat.demo.node import DemoSetting, command

NODE_ROLES = ("scheduler", "worker")
WORKER_ROLES = ("worker",)


class DemoFleet:
    """The nodes and the extra workers, each a process of its own."""

    def __init__(self, setting: DemoSetting, nodes: int, workers: int) -> None:
        self._setting = setting
        self._roles = {
            **{f"node-{number}": NODE_ROLES for number in range(1, nodes + 1)},
            **{f"worker-{number}": WORKER_ROLES for number in range(1, workers + 1)},
        }
        self._processes: dict[str, asyncio.subprocess.Process] = {}

    @property
    def alive(self) -> tuple[str, ...]:
        return tuple(
            label for label, process in self._processes.items() if process.returncode is None
        )

    async def __aenter__(self) -> Self:
        for label in self._roles:
            await self.start(label)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                process.kill()
        for process in self._processes.values():
            await process.wait()

    async def start(self, label: str) -> None:
        arguments = command(self._setting, label, self._roles[label])
        self._processes[label] = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdin=asyncio.subprocess.PIPE
        )

    async def kill(self, label: str) -> None:
        self._processes[label].kill()
        await self._processes[label].wait()

    def pause(self, label: str) -> None:
        self._processes[label].send_signal(signal.SIGSTOP)

    def resume(self, label: str) -> None:
        self._processes[label].send_signal(signal.SIGCONT)

    async def stop(self) -> None:
        for label in self.alive:
            self._processes[label].terminate()
        for process in self._processes.values():
            await process.wait()
