"""The processes of the nodes, with their proxies and their clocks."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from chaos import wrong_clock
from chaos.client import clock
from chaos.journal import SUFFIX
from chaos.node import ROOT, NodeOverrides, command
from chaos.pairs import PairBackends
from drumbeat.demo.file_lock import is_stuck
from drumbeat.demo.node import DemoSetting
from drumbeat.model.errors import Unavailable
from servers.ports import free_port
from servers.reaper import reaper

LOOK_EVERY = 0.05
STOP_PATIENCE = 60.0
START_AGAIN_AFTER = 0.5
ANY_PORT = "127.0.0.1:0"
ROLES = {
    "node": ("scheduler", "worker"),
    "scheduler": ("scheduler", "api"),
    "worker": ("worker",),
}
"""By the first word of a label."""


def serves_http(label: str) -> bool:
    """Whether a node with this label serves the HTTP API."""
    return "api" in ROLES[label.partition("-")[0]]


def works(label: str) -> bool:
    """Whether a node with this label runs jobs."""
    return "worker" in ROLES[label.partition("-")[0]]


def may_lead(label: str) -> bool:
    """Whether a node with this label may lead."""
    return "scheduler" in ROLES[label.partition("-")[0]]


class NodeProcesses:
    """Nodes, each with its own process and its own proxies to the servers."""

    def __init__(self, backends: PairBackends, setting: DemoSetting, labels: Sequence[str]) -> None:
        self._backends = backends
        self._setting = setting
        self.labels = tuple(labels)
        self.proxied_servers = {label: backends.proxied_servers() for label in labels}
        self._http = {label: f"127.0.0.1:{free_port()}" for label in labels if serves_http(label)}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.ends: list[tuple[str, float]] = []
        """The node and the elapsed time of each end of a process."""
        self.crashes: list[str] = []
        """Processes that ended by themselves, which is a violation, with their last output."""
        # The nodes of a SQLite file share the clock of their machine, which cannot be skewed.
        self._library = None if backends.disk else wrong_clock.find_library()

    @property
    def urls(self) -> list[str]:
        """Where jobs can be submitted over HTTP."""
        return [f"http://{address}" for address in self._http.values()]

    @property
    def can_skew(self) -> bool:
        """Whether the clocks of the nodes can be skewed."""
        return self._library is not None

    @property
    def pids(self) -> list[int]:
        return [each.pid for each in self._processes.values() if each.poll() is None]

    def is_ready(self, label: str) -> bool:
        """Whether its process runs and has begun its journal."""
        process = self._processes.get(label)
        return process is not None and self._journal_of(label, process.pid).exists()

    def start(self, label: str) -> None:
        """Start the process of a node, unless it has one."""
        if label in self._processes:
            return
        servers = self.proxied_servers[label]
        parts = self._backends.parts
        store, coordinator, queue = (
            servers[name].address if name in servers else None
            for name in (parts.store, parts.coordinator or "", parts.queue or "")
        )
        overrides = NodeOverrides(
            store,
            coordinator,
            queue=queue,
            roles=ROLES[label.partition("-")[0]],
            http_addr=self._http.get(label, ANY_PORT),
        )
        environment = dict(os.environ)
        if self._library is not None:
            self.set_clock(label, 0)
            environment |= wrong_clock.environment(self._library, self._clock_of(label))
        with (self._setting.folder / f"{label}.err").open("wb") as errors:
            process = subprocess.Popen(
                command(self._setting, label, overrides),
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stderr=errors,
            )
        reaper.watch_process(process.pid)
        self._processes[label] = process

    async def supervise(self) -> None:
        """Restart every process that ends by itself, until cancelled."""
        while True:
            over = [label for label, each in self._processes.items() if each.poll() is not None]
            for label in over:
                self._note_end(label)
                await clock.sleep(START_AGAIN_AFTER)
                if label not in self._processes:
                    self.start(label)
            await clock.sleep(LOOK_EVERY)

    def _note_end(self, label: str) -> None:
        """Record that a process ended by itself.

        This is a crash unless it never became ready because its store did not answer.
        """
        process = self._forget(label)
        output = (self._setting.folder / f"{label}.err").read_text(encoding="utf-8").strip()
        ready = self._journal_of(label, process.pid).exists()
        if ready or f"{Unavailable.__name__}: " not in output:
            last = output.rpartition("\n")[2]
            self.crashes.append(f"{label} ended by itself with {process.returncode}: {last}")
        self._clean_up(label, process)

    async def kill(self, label: str) -> None:
        """Kill a process."""
        if label not in self._processes:
            return
        process = self._forget(label)
        process.kill()
        await asyncio.to_thread(process.wait)
        self._clean_up(label, process)

    async def stop(self, label: str) -> None:
        """Ask a process to drain and stop, and wait for its end."""
        if label not in self._processes:
            return
        process = self._forget(label)
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, STOP_PATIENCE)
        except subprocess.TimeoutExpired:
            self.crashes.append(
                f"{label} did not stop within {STOP_PATIENCE:g} s of being asked to"
            )
            process.kill()
            process.wait()
        self._clean_up(label, process)

    async def pause(self, label: str) -> None:
        """Suspend a process, but not while it holds the lock of a SQLite file.

        A suspended holder of that lock would block all other writers.
        """
        self._signal(label, signal.SIGSTOP)
        while await asyncio.to_thread(is_stuck, self._setting.store):
            self._signal(label, signal.SIGCONT)
            await clock.sleep(LOOK_EVERY)
            self._signal(label, signal.SIGSTOP)

    def resume(self, label: str) -> None:
        self._signal(label, signal.SIGCONT)

    def set_clock(self, label: str, offset: float) -> None:
        """Set the wall clock of a node to this many seconds from the right time."""
        wrong_clock.set_clock(self._clock_of(label), offset)

    async def kill_all(self) -> None:
        await asyncio.gather(*(self.kill(label) for label in list(self._processes)))

    def _journal_of(self, label: str, pid: int) -> Path:
        return self._setting.folder / f"{label}.{pid}{SUFFIX}"

    def _clock_of(self, label: str) -> Path:
        return self._setting.folder / f"{label}.clock"

    def _signal(self, label: str, number: signal.Signals) -> None:
        if label in self._processes:
            self._processes[label].send_signal(number)

    def _forget(self, label: str) -> subprocess.Popen[bytes]:
        """Stop supervising a process, whose end is now intended."""
        return self._processes.pop(label)

    def _clean_up(self, label: str, process: subprocess.Popen[bytes]) -> None:
        self.ends.append((label, clock.elapsed()))
        reaper.forget_process(process.pid)
        wrong_clock.tidy_up(process.pid)
