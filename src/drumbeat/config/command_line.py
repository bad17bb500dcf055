"""The command line of this process, for the apps that are made in it.

An app is made while its module is imported, before the importing command could pass it anything.
So the options are kept here, as the environment is in `os.environ`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from drumbeat.model.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a command gives the apps that it loads."""

    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """The settings of its options, which override all others."""
    default_store: str | None = None
    """The store of an app that names none."""
    development_store: str | None = None
    """The store of an app that names a server; see `drumbeat.config.development`."""


_NOTHING = CommandLine()
_GIVEN: ContextVar[CommandLine] = ContextVar("drumbeat_command_line", default=_NOTHING)


def command_line() -> CommandLine:
    return _GIVEN.get()


@contextmanager
def given_on_command_line(given: CommandLine) -> Generator[None]:
    """Give this to the apps that are made in the body."""
    token = _GIVEN.set(given)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def refuse_while_loading() -> None:
    """Refuse to start an app while a command imports its module: the command would never go on."""
    if _GIVEN.get() is not _NOTHING:
        raise ConfigurationError(
            "the app is started while a command imports its module: put what starts it under "
            '`if __name__ == "__main__":`'
        )
