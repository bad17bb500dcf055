"""Tokens: how one is written, what is kept of it, and whether it lets someone in."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TypeAlias

from drumbeat.model.errors import InvalidOption
from drumbeat.model.token import Scope, TokenRecord

PREFIX = "drum_"
"""What every token begins with: people and scanners of secrets know one when they see it."""
ENTROPY = 32
"""Random bytes in a token. So many cannot be guessed, so a plain digest of them is safe to keep."""
DIGITS = 18
"""How long an id may be: no store counts further."""
SESSION = re.compile(r"session [0-9a-f]{12} of ")
"""How the names of browsers' sessions begin, which are kept among the tokens."""
NOBODY = 0
"""The id of no token."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The token lets its bearer in, as far as its scope reaches."""

    token: TokenRecord

    @property
    def scope(self) -> Scope:
        """How far."""
        return self.token.scope


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody knows the token."""


@dataclass(frozen=True, slots=True)
class Revoked:
    """The token was revoked."""

    token: TokenRecord


@dataclass(frozen=True, slots=True)
class Expired:
    """The token's time is over."""

    token: TokenRecord


Admission: TypeAlias = Admitted | Unknown | Revoked | Expired


def token_of(entropy: bytes) -> str:
    """The token that random bytes make."""
    return PREFIX + urlsafe_b64encode(entropy).rstrip(b"=").decode()


def digest_of(token: str) -> str:
    """What is kept of a token: nobody can make the token of it."""
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


def judged(record: TokenRecord | None, now: datetime) -> Admission:
    """Whether a token that was looked up by its digest lets its bearer in."""
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
    """Refuse a name that looks like that of a browser's session: it would be taken for one."""
    if name.casefold().startswith("session "):
        raise InvalidOption(
            f"the name of a token must not begin with 'session ', as {name!r} does: browsers' "
            f"sessions are named so; take another name"
        )


def is_session(record: TokenRecord) -> bool:
    """Whether a token is a browser's session."""
    return SESSION.match(record.name) is not None
