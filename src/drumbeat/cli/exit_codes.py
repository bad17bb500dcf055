"""The exit codes of commands."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every command. They are documented, and do not change."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    UNAVAILABLE = 5
    INTERRUPTED = 130


class Problem(Exception):
    """Ends a command with one sentence and an exit code."""

    def __init__(self, sentence: str, code: Exit = Exit.FAILED) -> None:
        self.code = code
        super().__init__(sentence)


def exit_for(error: BaseException) -> Exit:
    # Errors are imported here: what only shows its help need not wait for them.
    from drumbeat.model import errors  # noqa: PLC0415

    match error:
        case Problem():
            return error.code
        case KeyboardInterrupt():
            return Exit.INTERRUPTED
        case errors.NotFound() | errors.NobodyLeads():
            return Exit.NOT_FOUND
        case errors.Conflict() | errors.LockError():
            return Exit.CONFLICT
        case errors.Unavailable():
            return Exit.UNAVAILABLE
        case errors.InvalidInput() | errors.ConfigurationError() | errors.RegistrationError():
            return Exit.USAGE
        case _:
            return Exit.FAILED
