"""Tokens of the HTTP API, and their scopes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from drumbeat.model.errors import InvalidOption
from drumbeat.model.time.instant import aware

NAME_LIMIT = 100


class Scope(StrEnum):
    """What a token allows. Each scope includes those before it."""

    VIEWER = "viewer"
    """Reads everything and changes nothing."""
    SUBMITTER = "submitter"
    """Submits jobs too."""
    OPERATOR = "operator"
    """Changes jobs, schedules, queues and nodes too."""
    ADMIN = "admin"
    """Does everything."""

    def allows(self, other: Scope) -> bool:
        return _RANK[self] >= _RANK[other]


_RANK = {scope: rank for rank, scope in enumerate(Scope)}


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token, by its digest: the token itself is not stored."""

    name: str
    """Unique among the tokens that are not revoked."""
    digest: str
    """SHA-256 of the token, in hexadecimal digits."""
    scope: Scope
    expires_at: datetime | None = None
    """None: never."""

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > NAME_LIMIT or not self.name.isprintable():
            raise InvalidOption(
                f"the name of a token must have 1 to {NAME_LIMIT} printable characters, "
                f"not {self.name!r}"
            )
        if self.name.isdecimal():
            raise InvalidOption(
                f"the name of a token must not be a number, as {self.name!r} is: it would be "
                f"mistaken for an id; put a letter before it"
            )
        if self.expires_at is not None:
            aware("expires_at", self.expires_at)


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A token in the store."""

    id: int
    name: str
    digest: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """About when it was last used: uses are recorded in batches."""


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Another token that is not revoked has that name. Nothing was added."""

    name: str
