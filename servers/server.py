"""A server: one real server process on a free port, with a folder of its own.

It can be killed, paused and started again, and it does not outlive the process that started it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from servers import processes
from servers.missing import Missing
from servers.ports import free_port
from servers.reaper import reaper

START_PATIENCE = 120.0
STOP_PATIENCE = 15.0
PAUSE = 0.01


class Broken(Exception):
    """A server did not do what it should; its log is in the message."""


class Server(ABC):
    """One server. As a context manager it is stopped, and its folder removed, at the end."""

    name: str
    """What it is called in messages."""
    stop_signal = signal.SIGTERM
    """What makes it stop gracefully and soon."""
    user: str | None = None
    """Who runs it when we are root; nobody else than us if none is named."""

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
        """Where Drumbeat finds it."""

    @property
    def data(self) -> Path:
        """The folder with what it remembers."""
        return self.folder / "data"

    @property
    def running(self) -> bool:
        """Whether it has been started and has not ended; a paused server runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The process that all its others descend from; none while it does not run."""
        return self._process.pid if self._process is not None and self.running else None

    def log(self) -> str:
        """What it has written to its log."""
        with suppress(FileNotFoundError):
            return (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        return ""

    def kill(self) -> None:
        """Kill all its processes at once, with no chance to tidy up. Waits until they are gone."""
        if self._process is None:
            return
        doomed = processes.kill(self._process.pid)
        self._process.wait()
        processes.wait_until_gone(doomed)
        self._forget()

    def pause(self) -> None:
        """Stop the time of all its processes; their connections stay open."""
        if (pid := self.pid) is not None:
            processes.freeze(pid)

    def resume(self) -> None:
        """Let it go on after a pause."""
        if (pid := self.pid) is not None:
            processes.thaw(pid)

    def stop(self) -> None:
        """Stop it gracefully; kill it if it does not heed. Does nothing if it does not run."""
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
        """Start it after a kill or a stop: same port, same data. Waits until it answers."""
        self.launch()
        self.wait_until_ready()

    def restart_empty(self) -> None:
        """Start it after a kill or a stop: same port, but it remembers nothing."""
        self.empty()
        self.start_again()

    def empty(self) -> None:
        """Let it forget everything, after a kill or a stop."""
        if self.running:
            raise Broken(f"{self.name} runs; kill or stop it before it is emptied.")
        shutil.rmtree(self.data, ignore_errors=True)
        self.fill()

    def close(self) -> None:
        """Stop it and remove its folder; the end of this server."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        reaper.forget_folder(self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def begin(self) -> Self:
        """Fill it, start it and wait until it answers. Leaves nothing behind if that fails."""
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
        """Make the data that it begins with."""
        self._make_folder(self.data)

    @abstractmethod
    def _command(self) -> list[str]:
        """The command that runs it in the foreground."""

    @abstractmethod
    def _answers(self) -> bool:
        """Ask it something. False, or an OSError, if it cannot answer yet."""

    def _environment(self) -> Mapping[str, str]:
        """The environment that it runs in, besides the bare minimum."""
        return {}

    def launch(self) -> None:
        """Start its process, and do not wait until it answers."""
        if self.running:
            raise Broken(f"{self.name} runs already; kill or stop it before it is started again.")
        self.stop()  # it may have ended by itself
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
                start_new_session=True,  # Ctrl-C is for us; we then stop the server
            )
        reaper.watch_process(self._process.pid)

    def wait_until_ready(self) -> None:
        """Wait until it answers; say why, with its log, if it does not."""
        deadline = time.monotonic() + START_PATIENCE
        while not self._is_ready():
            if not self.running:
                raise Broken(f"{self.name} ended while it was started. Its log:\n{self.log()}")
            if time.monotonic() > deadline:
                late = f"{self.name} does not answer after {START_PATIENCE:g} s."
                raise Broken(f"{late} Its log:\n{self.log()}")
            time.sleep(PAUSE)

    def _is_ready(self) -> bool:
        try:
            return self._answers()
        except OSError:
            return False

    def _run(self, *command: str | Path) -> None:
        """Run a tool of the server, as its user, to its end."""
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
            raise Broken(f"`{command[0]}` of {self.name} failed:\n{said}")

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
