"""Tokens: what lets a client of the HTTP API in, and how far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from drumbeat.model.errors import InvalidOption
from drumbeat.model.instant import aware

NAME_LIMIT = 100


class Scope(StrEnum):
    """How far a token reaches. Each scope holds all those before it."""

    VIEWER = "viewer"
    """Looks at everything, and changes nothing."""
    SUBMITTER = "submitter"
    """Submits jobs too."""
    OPERATOR = "operator"
    """Changes jobs, schedules, queues and nodes too."""
    ADMIN = "admin"
    """Does everything."""

    def allows(self, other: Scope) -> bool:
        """Whether what needs the other scope may be done with this one."""
        return _REACH[self] >= _REACH[other]


_REACH = {scope: reach for reach, scope in enumerate(Scope)}


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token to be known from now on, by its digest: the token itself is kept by nobody."""

    name: str
    """What people call it. No two tokens that are not revoked share one."""
    digest: str
    """SHA-256 of the token, in hexadecimal digits."""
    scope: Scope
    expires_at: datetime | None = None
    """When it lets nobody in any more; None: never."""

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > NAME_LIMIT or not self.name.isprintable():
            raise InvalidOption(
                f"the name of a token has 1 to {NAME_LIMIT} characters that can be printed, "
                f"not {self.name!r}"
            )
        if self.name.isdecimal():
            raise InvalidOption(
                f"the name of a token is not a number, as {self.name!r} is: that would be taken "
                f"for the id of one; put a letter before it"
            )
        if self.expires_at is not None:
            aware("expires_at", self.expires_at)


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A token as the store has it."""

    id: int
    name: str
    digest: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """About when it was last used: uses are noted now and then, many at once."""


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Another token that is not revoked has that name. Nothing was added."""

    name: str
