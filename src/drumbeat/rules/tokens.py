"""API tokens: how they are written, their digest, and whether one is valid."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TypeAlias

from drumbeat.model.errors import InvalidOption
from drumbeat.model.fleet.token import Scope, TokenRecord

PREFIX = "drum_"
"""The prefix of every token, so that people and secret scanners recognise it."""
ENTROPY = 32
"""Random bytes in a token: enough that a plain digest of it is safe to store."""
DIGITS = 18
"""The most digits of an id."""
SESSION = re.compile(r"session [0-9a-f]{12} of ")
"""How the names of browser sessions begin, which are stored as tokens."""
NOBODY = 0
"""An id that no token has."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The token is valid, for what its scope allows."""

    token: TokenRecord

    @property
    def scope(self) -> Scope:
        return self.token.scope


@dataclass(frozen=True, slots=True)
class Unknown:
    """No such token exists."""


@dataclass(frozen=True, slots=True)
class Revoked:
    """The token was revoked."""

    token: TokenRecord


@dataclass(frozen=True, slots=True)
class Expired:
    """The token has expired."""

    token: TokenRecord


Admission: TypeAlias = Admitted | Unknown | Revoked | Expired


def token_of(entropy: bytes) -> str:
    return PREFIX + urlsafe_b64encode(entropy).rstrip(b"=").decode()


def digest_of(token: str) -> str:
    """What is stored of a token: it cannot be turned back into the token."""
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


def judged(record: TokenRecord | None, now: datetime) -> Admission:
    """Whether a token that was found by its digest is valid."""
    if record is None:
        return Unknown()
    if record.revoked_at is not None:
        return Revoked(record)
    if record.expires_at is not None and record.expires_at <= now:
        return Expired(record)
    return Admitted(record)


def id_of(name_or_id: str) -> int | None:
    """The id that a person wrote; None: it is a name."""
    if not name_or_id.isdecimal():
        return None
    return int(name_or_id) if len(name_or_id) <= DIGITS else NOBODY


def check_name(name: str) -> None:
    """Reject a name that looks like that of a browser session."""
    if name.casefold().startswith("session "):
        raise InvalidOption(
            f"the name of a token must not begin with 'session ', as {name!r} does: browser "
            f"sessions are named so; choose another name"
        )


def is_session(record: TokenRecord) -> bool:
    return SESSION.match(record.name) is not None
