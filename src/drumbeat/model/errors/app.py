"""Errors about an app: its declarations, its settings, and whether it runs."""

from __future__ import annotations

from drumbeat.model.errors.root import DrumbeatError, NamedError


class RegistrationError(DrumbeatError):
    """A declaration that conflicts with another; nothing was registered."""


class DuplicateTask(NamedError, RegistrationError):
    """A task of that name exists already."""

    sentence = "a task named {!r} is registered already; give one of them another name="


class DuplicateSchedule(NamedError, RegistrationError):
    """A schedule of that name was declared already."""

    sentence = "a schedule named {!r} is declared already; give one of them another name="


class InvalidHandler(RegistrationError):
    """A callable that cannot be a task."""


class InvalidHook(RegistrationError):
    """A middleware or a hook that cannot be one, or that does not keep its contract."""


class ConfigurationError(DrumbeatError, ValueError):
    """Settings that are not valid; nothing was started."""

    kind = "invalid-configuration"


class UnsafeLease(ConfigurationError):
    """Lease timings with which two nodes could act as leaders at once."""


class NotRunning(DrumbeatError):
    """A call that needs a started app."""

    kind = "not-running"


class StartHookFailed(DrumbeatError):
    """An `on_start` hook raised an error, which is the cause of this one; nothing was started."""

    def __init__(self, hook: str, error: BaseException) -> None:
        self.hook = hook
        super().__init__(
            f"{hook} failed, so the node was not started: {type(error).__name__}: {error}"
        )


class ProcessNotStarted(DrumbeatError):
    """A process for handlers with `process=True` died, or a hook failed, before it was ready."""

    def __init__(self, exit_code: int | None, failure: str | None = None) -> None:
        self.exit_code = exit_code
        super().__init__(
            f"a process for handlers is not ready: {failure}"
            if failure is not None
            else f"a process for handlers died with exit code {exit_code} before it was ready; its "
            f'error output says why (a script that starts an app needs `if __name__ == "__main__":`'
            f" around the start)"
        )
