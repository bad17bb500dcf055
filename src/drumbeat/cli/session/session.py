"""The session: what the global options say, and which fleet a command asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.cli.output.output import Output
from drumbeat.model.errors import Unauthorised

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat
    from drumbeat.cli.session.target import Target
    from drumbeat.fleet.fleet import Fleet

T = TypeVar("T")

STORE = "store"
DATABASE = Path("drumbeat.db")
"""The file that `drumbeat dev` creates, and that other commands use if no store is named."""
DEVELOPMENT_STORE = f"sqlite:///{DATABASE}"


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
    """The reason of the change, for the audit log."""
    debug: bool = False
    output: Output = field(default_factory=Output)
    make: Callable[[Session], Drumbeat] | None = None
    """Creates the app; tests use their own."""

    def app(self, *, or_server: bool = False) -> Drumbeat:
        """The app that `--app` names, else one without tasks on the store that is named.

        `or_server`: the error also names --server if there is no store.
        """
        if self.make is not None:
            return self.make(self)
        from drumbeat.cli.session.app_path import load_app  # noqa: PLC0415 - slow to import
        from drumbeat.config import CommandLine  # noqa: PLC0415 - as above

        if self.app_path is not None:
            here = DEVELOPMENT_STORE if DATABASE.exists() else None
            return load_app(self.app_path, CommandLine(self.settings, default_store=here))
        return _bare_app(self.settings, "--store URL, --server URL" if or_server else "--store URL")

    def default_zone(self) -> str:
        """The zone of cron expressions without one: that of the app if one is named."""
        if self.make is not None or self.app_path is not None:
            return self.app().settings.tz
        from drumbeat.config import LoadedSettings, Sources  # noqa: PLC0415 - slow to import

        found = LoadedSettings.of(Sources.of_this_process({}, given=self.settings))
        return str(found.settled()["tz"])

    def target(self) -> Target:
        """The fleet of a server if one is named, else that of an app or a store."""
        from drumbeat.cli.session.server_address import server_of, token_of  # noqa: PLC0415 - slow
        from drumbeat.cli.session.target import LocalTarget, RemoteTarget  # noqa: PLC0415 - slow

        url = server_of(self)
        if url is not None:
            return RemoteTarget(url, token_of(self.token_file), self.reason)
        return LocalTarget(self.app(or_server=True), self.reason, shared=self.make is not None)

    def ask(self, question: Callable[[Fleet], Awaitable[T]]) -> T:
        """The fleet's answer; a `Problem` if its store does not exist or is in memory."""
        target = self.target()
        target.check_store()
        return self.run(target.open_existing(), question)

    def ask_or_create(self, question: Callable[[Fleet], Awaitable[T]]) -> T:
        """The same, for what may come before the first node: it creates the store if need be."""
        target = self.target()
        target.check_store()
        return self.run(target.open(), question)

    def ask_election(self, question: Callable[[Fleet], Awaitable[T]]) -> T:
        """The fleet's answer about its leaders, which an outer coordinator may know."""
        target = self.target()
        target.check_election()
        return self.run(target.open_existing(), question)

    def ask_code(self, question: Callable[[Fleet], Awaitable[T]]) -> T:
        """The fleet's answer about its tasks or its settings, for which no store is opened."""
        return self.run(self.target().open_without_store(), question)

    def run(
        self,
        opened: AbstractAsyncContextManager[Fleet],
        question: Callable[[Fleet], Awaitable[T]],
    ) -> T:
        """The answer of one fleet, on an event loop of its own."""
        import asyncio  # noqa: PLC0415 - the help does not need it

        async def connected() -> T:
            async with opened as fleet:
                return await question(fleet)

        try:
            return asyncio.run(connected())
        except Unauthorised as error:
            raise Problem(
                f"the server requires a valid token ({error}); "
                f"give one by DRUMBEAT_TOKEN, DRUMBEAT_TOKEN_FILE or --token-file"
            ) from error


def _bare_app(settings: Mapping[str, str], options: str) -> Drumbeat:
    from drumbeat.app import Drumbeat  # noqa: PLC0415 - the engine, when it is needed
    from drumbeat.config import CommandLine, LoadedSettings, Sources, given_on_command_line  # noqa: PLC0415

    with given_on_command_line(CommandLine(settings)):
        if LoadedSettings.of(Sources.of_this_process({})).settled()[STORE] is not None:
            return Drumbeat()
        if not DATABASE.exists():
            raise Problem(
                f"no store is named, and there is no {DATABASE} here: give {options} or "
                f"--app MODULE:NAME, set DRUMBEAT_STORE, or start one here with `drumbeat dev`",
                Exit.USAGE,
            )
        return Drumbeat(DEVELOPMENT_STORE)
