"""A real server process on a free port, with its own folder.

It can be killed, paused and restarted, and does not outlive the process that started it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from servers import processes
from servers.closeable import Closeable
from servers.packages import Missing
from servers.ports import free_port
from servers.reaper import reaper

START_PATIENCE = 120.0
STOP_PATIENCE = 15.0
PAUSE = 0.01


class ServerFailed(Exception):
    """A server failed; the message has its log."""


class Server(Closeable):
    """One server. As a context manager, it stops and removes its folder at the end."""

    name: str
    """Its name in messages."""
    stop_signal = signal.SIGTERM
    """The signal for a quick orderly stop."""
    user: str | None = None
    """The user that runs it if this process is root; the same user by default."""

    def __init__(self) -> None:
        user = self._runs_as()
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"drumbeat-{self.name}-"))
        reaper.watch_folder(self.folder)
        self._process: subprocess.Popen[bytes] | None = None
        if user is not None:
            shutil.chown(self.folder, user, user)

    @property
    @abstractmethod
    def address(self) -> str:
        """Its URL for Drumbeat."""

    @property
    def data(self) -> Path:
        """The folder with its data."""
        return self.folder / "data"

    @property
    def running(self) -> bool:
        """Whether its process runs; a paused server does."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """Its root process; None if it does not run."""
        return self._process.pid if self._process is not None and self.running else None

    def log(self) -> str:
        with suppress(FileNotFoundError):
            return (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        return ""

    def kill(self) -> None:
        """Kill all its processes at once. Waits until they have ended."""
        if self._process is None:
            return
        doomed = processes.kill(self._process.pid)
        self._process.wait()
        processes.wait_until_gone(doomed)
        self._forget()

    def pause(self) -> None:
        """Suspend all its processes; their connections stay open."""
        if (pid := self.pid) is not None:
            processes.freeze(pid)

    def resume(self) -> None:
        if (pid := self.pid) is not None:
            processes.thaw(pid)

    def stop(self) -> None:
        """Stop it in an orderly way, or kill it if it does not stop."""
        if self._process is None:
            return
        self.resume()
        with suppress(ProcessLookupError):
            self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(STOP_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
        else:
            self._forget()

    def start_again(self) -> None:
        """Start it after a kill or a stop with the same port and data. Waits until it answers."""
        self.launch()
        self.wait_until_ready()

    def restart_empty(self) -> None:
        """Start it after a kill or a stop with the same port and without data."""
        self.empty()
        self.start_again()

    def empty(self) -> None:
        """Delete its data, after a kill or a stop."""
        if self.running:
            raise ServerFailed(f"{self.name} is running; kill or stop it before deleting its data.")
        shutil.rmtree(self.data, ignore_errors=True)
        self.fill()

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        reaper.forget_folder(self.folder)

    def begin(self) -> Self:
        """Initialise it, start it and wait until it answers. Cleans up if that fails."""
        try:
            self.fill()
            self.launch()
            self.wait_until_ready()
        except BaseException:
            self.kill()
            self.close()
            raise
        return self

    def fill(self) -> None:
        """Create its initial data."""
        self._make_folder(self.data)

    @abstractmethod
    def _command(self) -> list[str]:
        """The command that runs it in the foreground."""

    @abstractmethod
    def _answers(self) -> bool:
        """Query it. False, or an OSError, if it does not answer yet."""

    def _environment(self) -> Mapping[str, str]:
        """Environment variables in addition to the minimum."""
        return {}

    def launch(self) -> None:
        """Start its process without waiting until it answers."""
        if self.running:
            raise ServerFailed(
                f"{self.name} is already running; kill or stop it before starting it."
            )
        self.stop()  # clean up if it ended by itself
        command = self._command()
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=_bare_environment() | dict(self._environment()),
                user=self._runs_as(),
                group=self._runs_as(),
                extra_groups=None if self._runs_as() is None else [],
                start_new_session=True,  # Ctrl-C must not reach it; this process stops it
            )
        reaper.watch_process(self._process.pid)

    def wait_until_ready(self) -> None:
        """Wait until it answers; raises `ServerFailed` with its log otherwise."""
        deadline = time.monotonic() + START_PATIENCE
        while not self._is_ready():
            if not self.running:
                raise ServerFailed(f"{self.name} ended during its start. Its log:\n{self.log()}")
            if time.monotonic() > deadline:
                late = f"{self.name} does not answer after {START_PATIENCE:g} s."
                raise ServerFailed(f"{late} Its log:\n{self.log()}")
            time.sleep(PAUSE)

    def _is_ready(self) -> bool:
        try:
            return self._answers()
        except OSError:
            return False

    def _run(self, *command: str | Path) -> None:
        """Run a tool of the server as its user."""
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            env=_bare_environment(),
            user=self._runs_as(),
            group=self._runs_as(),
            extra_groups=None if self._runs_as() is None else [],
            check=False,
        )
        if done.returncode != 0:
            said = done.stdout.decode(errors="replace")
            raise ServerFailed(f"`{command[0]}` of {self.name} failed:\n{said}")

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        if (user := self._runs_as()) is not None:
            shutil.chown(folder, user, user)

    def _runs_as(self) -> str | None:
        if self.user is None or os.geteuid() != 0:
            return None
        try:
            pwd.getpwnam(self.user)
        except KeyError:
            raise Missing(f"The user {self.user}", f"useradd --system {self.user}") from None
        return self.user

    def _forget(self) -> None:
        if self._process is not None:
            reaper.forget_process(self._process.pid)
            self._process = None


def _bare_environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
