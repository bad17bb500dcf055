"""The address of a database: the part for the client, and the part that errors may show."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from drumbeat.model.errors import ConfigurationError

SCHEMES = ("postgresql", "postgres")
OWN = frozenset({"pooler"})
"""Parameters of Drumbeat, which the client does not know."""
SECRETS = ("password", "sslpassword")
MASK = "***"
EXAMPLE = "postgresql://user@host:5432/database"


class Pooler(StrEnum):
    """The pooler in front of the server, as the address names it."""

    NONE = "none"
    SESSION = "session"
    TRANSACTION = "transaction"


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address."""

    full: str = field(repr=False)
    """With the password, only for the client."""
    shown: str
    """Hosts and database, for errors and logs."""
    hosts: int
    pooler: Pooler | None
    """None: it is detected."""
    secrets: tuple[str, ...] = field(repr=False)

    def scrubbed(self, text: str) -> str:
        """The text with the secrets of this address masked."""
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return text


def parse_address(text: str) -> Address:
    """Parse an address; `ConfigurationError` if it is invalid."""
    try:
        parts = urlsplit(text)
    except ValueError:  # its text would repeat the address, and with it the password
        raise ConfigurationError(
            f"the address of the PostgreSQL database cannot be read; write it as {EXAMPLE!r}"
        ) from None
    if parts.scheme not in SCHEMES:
        raise ConfigurationError(
            f"the address of a PostgreSQL database begins with postgresql://, "
            f"not with {parts.scheme or 'nothing'}://"
        )
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    user, _, hosts = parts.netloc.rpartition("@")
    named = dict(parameters)
    listed = named.get("host", "") or hosts
    database = named.get("dbname") or parts.path
    count = listed.count(",") + 1
    kept = [(name, value) for name, value in parameters if name not in OWN]
    if count > 1 and "target_session_attrs" not in named:
        kept.append(("target_session_attrs", "read-write"))  # writes need the primary
    full = urlunsplit(parts._replace(query=urlencode(kept, quote_via=quote)))
    passwords = {user.partition(":")[2], *(named.get(name, "") for name in SECRETS)}
    secrets = {form for each in passwords for form in (each, unquote(each)) if form}
    return Address(
        full,
        f"{listed or 'localhost'}/{database.removeprefix('/')}".removesuffix("/"),
        count,
        _pooler(named.get("pooler")),
        tuple(sorted(secrets, key=len, reverse=True)),
    )


def _pooler(text: str | None) -> Pooler | None:
    if text is None:
        return None
    try:
        return Pooler(text)
    except ValueError:
        known = ", ".join(Pooler)
        raise ConfigurationError(
            f"pooler in the address of the PostgreSQL database must be one of {known}, not {text!r}"
        ) from None


_NAMESPACE = re.compile(r"[A-Za-z0-9_-]+")
LONGEST_NAMESPACE = 40
"""Characters; PostgreSQL cuts names at 63, and the names of channels are longer."""


def check_namespace(namespace: str) -> None:
    """Reject a namespace that cannot be the name of a schema."""
    if not _NAMESPACE.fullmatch(namespace) or len(namespace) > LONGEST_NAMESPACE:
        raise ConfigurationError(
            f"namespace must be at most {LONGEST_NAMESPACE} letters, digits, - and _ "
            f"to name a schema of PostgreSQL, not {namespace!r}"
        )
    if namespace.startswith("pg_"):
        raise ConfigurationError(
            f"namespace must not begin with pg_, which PostgreSQL keeps for itself: {namespace!r}"
        )
