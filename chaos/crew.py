"""The crew: the processes of the nodes, their wires and their clocks."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from chaos import wrong_clock
from chaos.journal import SUFFIX
from chaos.node import ROOT, Peculiar, command
from chaos.pairs import Ground
from drumbeat.demo.file_lock import is_stuck
from drumbeat.demo.node import DemoSetting
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import Unavailable
from servers.reaper import reaper

LOOK_EVERY = 0.05
STOP_PATIENCE = 60.0
START_AGAIN_AFTER = 0.5

clock = SystemClock()


class Crew:
    """So many nodes, each a process of its own with wires of its own."""

    def __init__(self, ground: Ground, setting: DemoSetting, labels: Sequence[str]) -> None:
        self._ground = ground
        self._setting = setting
        self.labels = tuple(labels)
        self.lines = {label: ground.lines() for label in labels}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.ends: list[tuple[str, float]] = []
        """When which process was seen to be over, in elapsed time."""
        self.crashes: list[str] = []
        """Processes that ended by themselves, which none may, and their last words."""
        # A SQLite file has no clock but that of its machine, which all its nodes share.
        self._library = None if ground.disk else wrong_clock.find_library()

    @property
    def can_skew(self) -> bool:
        """Whether clocks can be moved here."""
        return self._library is not None

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [each.pid for each in self._processes.values() if each.poll() is None]

    def is_ready(self, label: str) -> bool:
        """Whether its process runs and has got as far as to write its journal."""
        process = self._processes.get(label)
        return process is not None and self._journal_of(label, process.pid).exists()

    def start(self, label: str) -> None:
        """Start the process of a node, unless it has one."""
        if label in self._processes:
            return
        lines = self.lines[label]
        store, _, coordinator = self._ground.pair.partition("+")
        peculiar = Peculiar(
            lines[store].address if store in lines else None,
            lines[coordinator].address if coordinator else None,
        )
        environment = dict(os.environ)
        if self._library is not None:
            self.set_clock(label, 0)
            environment |= wrong_clock.environment(self._library, self._clock_of(label))
        with (self._setting.folder / f"{label}.err").open("wb") as errors:
            process = subprocess.Popen(
                command(self._setting, label, peculiar),
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stderr=errors,
            )
        reaper.watch_process(process.pid)
        self._processes[label] = process

    async def supervise(self) -> None:
        """Start another in the place of every process that ends by itself, until cancelled."""
        while True:
            over = [label for label, each in self._processes.items() if each.poll() is not None]
            for label in over:
                self._note_end(label)
                await clock.sleep(START_AGAIN_AFTER)
                if label not in self._processes:
                    self.start(label)
            await clock.sleep(LOOK_EVERY)

    def _note_end(self, label: str) -> None:
        """A node must not end by itself.

        Only one that never got ready, since it did not find its store, may: there is nothing else
        that it could do.
        """
        process = self._forget(label)
        said = (self._setting.folder / f"{label}.err").read_text(encoding="utf-8").strip()
        ready = self._journal_of(label, process.pid).exists()
        if ready or f"{Unavailable.__name__}: " not in said:
            last = said.rpartition("\n")[2]
            self.crashes.append(f"{label} ended by itself with {process.returncode}: {last}")
        self._bury(label, process)

    async def kill(self, label: str) -> None:
        """End a process at once, whatever it is doing."""
        if label not in self._processes:
            return
        process = self._forget(label)
        process.kill()
        await asyncio.to_thread(process.wait)
        self._bury(label, process)

    async def stop(self, label: str) -> None:
        """Ask a process to drain and stop, and wait until it has."""
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
        self._bury(label, process)

    async def pause(self, label: str) -> None:
        """Stop a process in its tracks, but not while it holds the lock of a SQLite file.

        Whoever sleeps with that lock keeps everybody waiting: SQLite knows no other way.
        """
        self._signal(label, signal.SIGSTOP)
        while await asyncio.to_thread(is_stuck, self._setting.store):
            self._signal(label, signal.SIGCONT)
            await clock.sleep(LOOK_EVERY)
            self._signal(label, signal.SIGSTOP)

    def resume(self, label: str) -> None:
        """Let a paused process go on."""
        self._signal(label, signal.SIGCONT)

    def set_clock(self, label: str, offset: float) -> None:
        """Move the wall clock of a node to so many seconds from the right time."""
        wrong_clock.set_clock(self._clock_of(label), offset)

    async def disband(self) -> None:
        """End all processes: the day is over."""
        await asyncio.gather(*(self.kill(label) for label in list(self._processes)))

    def _journal_of(self, label: str, pid: int) -> Path:
        return self._setting.folder / f"{label}.{pid}{SUFFIX}"

    def _clock_of(self, label: str) -> Path:
        return self._setting.folder / f"{label}.clock"

    def _signal(self, label: str, number: signal.Signals) -> None:
        if label in self._processes:
            self._processes[label].send_signal(number)

    def _forget(self, label: str) -> subprocess.Popen[bytes]:
        """What happens to it now is meant to, and no crash."""
        return self._processes.pop(label)

    def _bury(self, label: str, process: subprocess.Popen[bytes]) -> None:
        self.ends.append((label, clock.elapsed()))
        reaper.forget_process(process.pid)
        wrong_clock.tidy_up(process.pid)
