"""The session: what the global options said, and how a command reaches the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from drumbeat.cli.exits import Exit, Problem
from drumbeat.cli.output import Output

if TYPE_CHECKING:
    from drumbeat.app import Drumbeat

T = TypeVar("T")

STORE = "store"
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
    debug: bool = False
    output: Output = field(default_factory=Output)
    make: Callable[[Session], Drumbeat] | None = None
    """Makes the app; tests bring their own."""
    secrets: Callable[[str], Collection[str]] = _no_secrets
    """Which arguments are not to be shown, as the app that was last asked says."""

    def app(self) -> Drumbeat:
        """The app that `--app` names, else a bare one that knows the store and no task."""
        if self.make is not None:
            return self.make(self)
        from drumbeat.cli.app_path import load_app  # noqa: PLC0415 - the engine, when it is needed

        if self.app_path is not None:
            return load_app(self.app_path, self.settings)
        return _bare_app(self.settings)

    def ask(self, question: Callable[[Drumbeat], Awaitable[T]]) -> T:
        """The answer to a question that an app is asked, connected and not running."""
        import asyncio  # noqa: PLC0415 - the help does not need it

        app = self.app()
        self.secrets = app.secrets

        async def connected() -> T:
            async with app.connected():
                return await question(app)

        return asyncio.run(connected())


def _bare_app(settings: Mapping[str, str]) -> Drumbeat:
    from drumbeat.app import Drumbeat  # noqa: PLC0415 - the engine, when it is needed
    from drumbeat.config import Sources, Survey, given_on_command_line  # noqa: PLC0415

    with given_on_command_line(settings):
        if Survey.of(Sources.of_this_process({})).settled()[STORE] is not None:
            return Drumbeat()
        if not DATABASE.exists():
            raise Problem(
                f"no store is named, and there is no {DATABASE} here: give --store URL or --app "
                f"MODULE:NAME, set DRUMBEAT_STORE, or start one here with `drumbeat dev`",
                Exit.USAGE,
            )
        return Drumbeat(DEVELOPMENT_STORE)
