"""The fleet that a command asks: a local one on a store, or a remote one at a server."""

from __future__ import annotations

import getpass
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from drumbeat.app import Drumbeat
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.session.existing_store import check_exists
from drumbeat.config.backends import NONE
from drumbeat.fleet.actor import Actor
from drumbeat.fleet.fleet import Fleet

NOT_VISIBLE = (
    "the store is in memory (memory://), where each instance keeps its own: nothing of it can be "
    "seen from outside; ask an instance over HTTP with --server URL, which one with the role api "
    "serves (`drumbeat run APP --roles scheduler,worker,api`, or app.asgi() in a web app)"
)
IN_MEMORY = ("memory:", "<MemoryStore>")
"""How the setting of a store in memory begins: a URL, or an object of the user's."""


class Target(Protocol):
    """A fleet that can be opened."""

    def open(self) -> AbstractAsyncContextManager[Fleet]:
        """The fleet, connected. A store that does not exist yet is created."""
        ...

    def open_existing(self) -> AbstractAsyncContextManager[Fleet]:
        """The fleet, connected; a `Problem` if its store does not exist."""
        ...

    def open_without_store(self) -> AbstractAsyncContextManager[Fleet]:
        """The fleet, for questions about its code: its tasks and its settings."""
        ...

    def check_store(self) -> None:
        """Raise a `Problem` if the fleet's store is in memory, and so not visible from here."""
        ...

    def check_election(self) -> None:
        """Raise a `Problem` if the fleet's leader is not visible from here."""
        ...


class LocalTarget:
    """The fleet of an app in this process, which is connected and does not run."""

    def __init__(self, app: Drumbeat, reason: str, *, shared: bool) -> None:
        """`shared`: the store is visible, even if it is in memory."""
        self.app = app
        self._reason = reason
        self._in_memory = not shared and (app.settings.store or "").startswith(IN_MEMORY)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Fleet]:
        async with self.app.connected():
            yield self.app.fleet.acting_as(Actor(_user(), self._reason))

    @asynccontextmanager
    async def open_existing(self) -> AsyncGenerator[Fleet]:
        await check_exists(self.app)
        async with self.open() as fleet:
            yield fleet

    @asynccontextmanager
    async def open_without_store(self) -> AsyncGenerator[Fleet]:
        yield self.app.fleet

    def check_store(self) -> None:
        if self._in_memory:
            raise Problem(NOT_VISIBLE, Exit.USAGE)

    def check_election(self) -> None:
        if self.app.settings.coordinator in (None, NONE, "memory://"):
            self.check_store()


class RemoteTarget:
    """The fleet of a server."""

    def __init__(self, url: str, token: str | None, reason: str) -> None:
        self.url = url
        self._token = token
        self._reason = reason

    def open(self) -> AbstractAsyncContextManager[Fleet]:
        from drumbeat.fleet.remote.fleet import RemoteFleet  # noqa: PLC0415 - slow to import

        return RemoteFleet(self.url, self._token, reason=self._reason)

    def open_existing(self) -> AbstractAsyncContextManager[Fleet]:
        return self.open()

    def open_without_store(self) -> AbstractAsyncContextManager[Fleet]:
        return self.open()

    def check_store(self) -> None:
        """A server sees its own store."""

    def check_election(self) -> None:
        """A server knows its own leader."""


def _user() -> str:
    """The user of this terminal, for the audit log."""
    try:
        return f"{getpass.getuser()} (terminal)"
    except (KeyError, OSError):  # a container without a name for its user
        return "somebody (terminal)"
