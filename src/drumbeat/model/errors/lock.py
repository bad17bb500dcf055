"""Errors about locks."""

from __future__ import annotations

from drumbeat.model.errors.root import DrumbeatError


class LockError(DrumbeatError):
    """A lock could not be acquired or kept."""


class LockHeld(LockError):
    """Somebody else holds the lock."""

    def __init__(self, name: str, holder: str | None = None) -> None:
        self.name = name
        self.holder = holder
        by = f" by {holder}" if holder else ""
        super().__init__(f"lock {name!r} is held{by}")


class LockLost(LockError):
    """The lock ended while it was held: another holder may have it now."""

    def __init__(self, name: str, token: int) -> None:
        self.name = name
        self.token = token
        super().__init__(f"lock {name!r} with token {token} was lost before it was released")
