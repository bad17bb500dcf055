"""`drumbeat dev`: runs a whole fleet on one SQLite file, and restarts it when code changes."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from drumbeat.cli.command import make_command
from drumbeat.cli.exit_codes import Exit
from drumbeat.cli.options.settings import as_options, given, setting_options
from drumbeat.cli.running.browser import has_browser
from drumbeat.cli.running.child_process import Child
from drumbeat.cli.running.other_terminal import SAMPLE
from drumbeat.cli.running.supervisor import ENDED_WELL, passing_signals
from drumbeat.cli.session.session import Session
from drumbeat.config import SETTING
from drumbeat.config.kinds import host_and_port
from drumbeat.extras import install_command
from drumbeat.model.fleet.node import Role

DEVELOPMENT_GRACE = "3s"
PORTS = 100
"""So many ports are tried; if none is free, the system chooses one."""


@make_command(
    "dev",
    click.argument("path", metavar="[APP]", required=False),
    click.option("--reload/--no-reload", default=True, help="Restart when code changes."),
    click.option(
        "--open/--no-open",
        "opens",
        default=None,
        help="Open the dashboard in the browser; by default if there is a screen.",
    ),
    setting_options,
)
def command(
    session: Session,
    /,
    path: str | None,
    *,
    reload: bool,
    opens: bool | None,
    **options: Any,
) -> None:
    """Run everything here on one SQLite file, and restart when code changes.

    The file is the one that APP names, else drumbeat.db. Servers are not used, unless --store or
    --coordinator names them. Without APP there are sample tasks to play with. The dashboard opens
    in the browser, if there is one.

    Example:
      drumbeat dev
      drumbeat dev shop.jobs:app
    """
    path = path or session.app_path or SAMPLE
    session.settings |= given(options)
    session.settings.setdefault("grace", DEVELOPMENT_GRACE)
    session.output.say("Starting; Ctrl-C stops it.")
    roles = [Role.SCHEDULER, Role.WORKER]
    if find_spec("uvicorn") is None:
        session.output.say(
            f"Without the HTTP API, which needs the extra api: {install_command('api')}"
        )
    else:
        roles.append(Role.API)
        session.settings |= _free_address(session.settings)
    settings = as_options(session.settings)
    arguments = ["run", path, "--development", "--roles", ",".join(roles), *settings]
    if opens is None:
        opens = has_browser()
    first = ["--open-dashboard"] if opens and Role.API in roles else []
    development = Development(arguments, session.output.say, first)
    raise SystemExit(asyncio.run(development.run(Path.cwd() if reload else None)))


def _free_address(settings: Mapping[str, str]) -> Mapping[str, str]:
    """The next free port for the HTTP API, if the default one is taken and no address is set.

    It stays the same when code changes, so that an open page goes on.
    """
    given = [SETTING["http_addr"].name in settings]
    given += [name in os.environ for name in SETTING["http_addr"].variables]
    if any(given):
        return {}
    host, port = host_and_port(str(SETTING["http_addr"].default))
    if _is_free(host, port):
        return {}
    others = (each for each in range(port + 1, port + PORTS) if _is_free(host, each))
    return {"http_addr": f"{host}:{next(others, 0)}"}


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError:
            return False
    return True


class Development:
    """One node in a child process, which is replaced when the code changes."""

    def __init__(
        self, arguments: Sequence[str], say: Callable[[str], None], first: Sequence[str] = ()
    ) -> None:
        """`first` are arguments of the first process only."""
        self._arguments = arguments
        self._say = say
        self._child = Child([*arguments, *first])
        self._watched = asyncio.Event()
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()

    async def run(self, folder: Path | None) -> int:
        """Run until a signal; 0 if the last process ended well."""
        with passing_signals(self._pass_on):
            async with asyncio.TaskGroup() as group:
                watching = None
                if folder is not None:  # first, so that no change is missed
                    watching = group.create_task(self._watch(folder))
                    await self._watched.wait()
                try:
                    return await self._serve(reloads=folder is not None)
                finally:
                    self._stopping.set()
                    if watching is not None:
                        watching.cancel()

    def _pass_on(self, number: signal.Signals) -> None:
        self._stopping.set()
        self._changed.set()
        self._child.signal(number)

    async def _serve(self, *, reloads: bool) -> int:
        while True:
            self._changed.clear()
            await self._child.start()
            if self._stopping.is_set():  # by a signal that came before it could be passed on
                self._child.signal(signal.SIGTERM)
            code = await self._lived(self._child)
            if self._stopping.is_set() or (not reloads and not self._changed.is_set()):
                return Exit.OK if code in ENDED_WELL else Exit.FAILED
            if not self._changed.is_set():
                self._say(f"The app ended with {code}; it starts again when its code changes.")
                await self._changed.wait()
                if self._stopping.is_set():
                    return Exit.OK if code in ENDED_WELL else Exit.FAILED
            self._child = Child(self._arguments)

    async def _lived(self, child: Child) -> int:
        """The exit code of a child, which is asked to end when the code changes."""
        ended = asyncio.create_task(child.ended())
        changed = asyncio.create_task(self._changed.wait())
        try:
            await asyncio.wait([ended, changed], return_when=asyncio.FIRST_COMPLETED)
            if not ended.done() and not self._stopping.is_set():
                child.signal(signal.SIGTERM)
            return await ended
        finally:
            changed.cancel()

    async def _watch(self, folder: Path) -> None:
        # Only reloading needs it. pyright misses the types of an optional package.
        from watchfiles import (  # noqa: PLC0415
            Change,
            DefaultFilter,
            awatch,  # pyright: ignore[reportUnknownVariableType]
        )

        class Code(DefaultFilter):
            """Accepts Python files and `.env`, but not the caches of tools."""

            def __call__(self, change: Change, path: str) -> bool:
                named = path.endswith(".py") or Path(path).name == ".env"
                return named and super().__call__(change, path)

        self._watched.set()  # waiters continue once this task waits for changes
        async for changes in awatch(folder, watch_filter=Code(), stop_event=self._stopping):
            names = sorted({Path(path).name for _, path in changes})
            self._say(f"{', '.join(names)} changed; restarting.")
            self._changed.set()
