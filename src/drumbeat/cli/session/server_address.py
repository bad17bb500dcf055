"""The server that a command uses, and its token."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.config.loaded_settings import SERVER, TOKEN, TOKEN_FILE
from drumbeat.config.sources import dotenv_here, environment_of_this_process

if TYPE_CHECKING:
    from drumbeat.cli.session.session import Session

STDIN = "-"


def server_of(session: Session) -> str | None:
    """The URL of the server; None: the command works on the store itself.

    The command line takes precedence over the environment, whether it names a server or a store.
    """
    here = _here(session)
    if session.server is not None:
        if here is not None:
            raise Problem(
                f"--server asks a server, which has its own store: leave {here} out", Exit.USAGE
            )
        return session.server
    if here is not None or session.make is not None:
        return None
    return _variable(SERVER)


def token_of(file: str | None) -> str | None:
    """The token: from the file that `--token-file` names, else from the environment."""
    if file is not None:
        return _read(file)
    token = _variable(TOKEN)
    if token is not None:
        return token
    named = _variable(TOKEN_FILE)
    return None if named is None else _read(named)


def _here(session: Session) -> str | None:
    """The option that names a store."""
    if session.app_path is not None:
        return "--app"
    return next((f"--{name}" for name in ("store", "namespace") if name in session.settings), None)


def _variable(name: str) -> str | None:
    return environment_of_this_process().get(name) or dotenv_here().get(name) or None


def _read(file: str) -> str:
    try:
        if file == STDIN:
            import sys  # noqa: PLC0415 - seldom

            return sys.stdin.readline().strip()
        return Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise Problem(f"the token cannot be read from {file}: {why}", Exit.USAGE) from None
