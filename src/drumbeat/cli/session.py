"""The session: what the global options said, and how a command reaches the store."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.output import Output
from drumbeat.model.errors import Unauthorised

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat
    from drumbeat.cli.asked import Asked
    from drumbeat.client.client import Client

T = TypeVar("T")

NOTHING_TO_SEE = (
    "the store is in memory (memory://), where each instance keeps its own: nothing of it can be "
    "seen from outside; ask an instance over HTTP with --server URL, which one with the role api "
    "serves (`drumbeat run APP --roles scheduler,worker,api`, or app.asgi() in a web app)"
)
STORE = "store"
IN_MEMORY = ("memory:", "<MemoryStore>")
"""How the setting of a store begins that is in memory: an address, or an object of the user's."""
DATABASE = Path("drumbeat.db")
"""The file that `drumbeat dev` makes, and that other commands find beside it."""
DEVELOPMENT_STORE = f"sqlite:///{DATABASE}"


def _no_secrets(task: str) -> Collection[str]:
    del task
    return ()


@dataclass(slots=True)
class Session:
    """One run of the command line."""

    settings: dict[str, str] = field(default_factory=dict[str, str])
    """The settings that the command line gives, by name."""
    app_path: str | None = None
    server: str | None = None
    """The server that `--server` names."""
    token_file: str | None = None
    reason: str = ""
    """Why something is changed, for the audit log."""
    debug: bool = False
    output: Output = field(default_factory=Output)
    make: Callable[[Session], Drumbeat] | None = None
    """Makes the app; tests bring their own."""
    secrets: Callable[[str], Collection[str]] = _no_secrets
    """Which arguments are not to be shown, as the app that was last asked says."""

    def app(self, *, or_server: bool = False) -> Drumbeat:
        """The app that `--app` names, else a bare one that knows the store and no task.

        `or_server`: a server could be asked in its place.
        """
        if self.make is not None:
            return self.make(self)
        from drumbeat.cli.app_path import load_app  # noqa: PLC0415 - the engine, when it is needed

        if self.app_path is not None:
            return load_app(self.app_path, self.settings)
        return _bare_app(self.settings, "--store URL, --server URL" if or_server else "--store URL")

    def ask(self, question: Callable[[Asked], Awaitable[T]], *, of_the_store: bool = True) -> T:
        """The answer to a question, of an app here that is connected and not running, or of a
        server.

        A question that only the store can answer is refused where the store is in memory: the
        one of this process is new and empty.
        """
        import asyncio  # noqa: PLC0415 - the help does not need it

        client = self.client()
        asked = self._here() if client is None else _remote(client)

        async def connected() -> T:
            async with asked as answering:
                if of_the_store and answering.in_memory:
                    raise Problem(NOTHING_TO_SEE, Exit.USAGE)
                self.secrets = answering.secrets
                return await question(answering)

        try:
            return asyncio.run(connected())
        except Unauthorised as error:
            raise Problem(
                f"the server lets nobody in without a token that it knows ({error}); "
                f"give one by DRUMBEAT_TOKEN, DRUMBEAT_TOKEN_FILE or --token-file"
            ) from error

    def _here(self) -> AbstractAsyncContextManager[Asked]:
        app = self.app(or_server=True)
        in_memory = (app.settings.store or "").startswith(IN_MEMORY)
        return _local(app, in_memory=self.make is None and in_memory)

    def client(self) -> Client | None:
        """The client of the server that the command line or the environment names; None: none."""
        from drumbeat.cli.server import server_of, token_of  # noqa: PLC0415 - when it is needed

        url = server_of(self)
        if url is None:
            return None
        from drumbeat.client.client import Client  # noqa: PLC0415 - only those who ask a server

        return Client(url, token_of(self.token_file), reason=self.reason)


@asynccontextmanager
async def _local(app: Drumbeat, *, in_memory: bool) -> AsyncGenerator[Asked]:
    from drumbeat.cli.local import Local  # noqa: PLC0415 - the engine, when it is needed

    async with app.connected():
        yield Local(app, in_memory=in_memory)


@asynccontextmanager
async def _remote(client: Client) -> AsyncGenerator[Asked]:
    from drumbeat.cli.remote import Remote  # noqa: PLC0415 - only those who ask a server

    async with client:
        yield Remote(client)


def _bare_app(settings: Mapping[str, str], options: str) -> Drumbeat:
    from drumbeat.app import Drumbeat  # noqa: PLC0415 - the engine, when it is needed
    from drumbeat.config import Sources, Survey, given_on_command_line  # noqa: PLC0415

    with given_on_command_line(settings):
        if Survey.of(Sources.of_this_process({})).settled()[STORE] is not None:
            return Drumbeat()
        if not DATABASE.exists():
            raise Problem(
                f"no store is named, and there is no {DATABASE} here: give {options} or "
                f"--app MODULE:NAME, set DRUMBEAT_STORE, or start one here with `drumbeat dev`",
                Exit.USAGE,
            )
        return Drumbeat(DEVELOPMENT_STORE)
