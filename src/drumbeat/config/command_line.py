"""The command line of this process, for the apps that are made in it.

An app is made while its module is imported, before the importing command could pass it anything.
So the options are kept here, as the environment is in `os.environ`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_NOTHING: Mapping[str, str] = {}
_GIVEN: ContextVar[Mapping[str, str]] = ContextVar("drumbeat_command_line", default=_NOTHING)


def command_line() -> Mapping[str, str]:
    return _GIVEN.get()


@contextmanager
def given_on_command_line(settings: Mapping[str, str]) -> Generator[None]:
    """Give these settings precedence for the apps that are made in the body."""
    token = _GIVEN.set(settings)
    try:
        yield
    finally:
        _GIVEN.reset(token)
