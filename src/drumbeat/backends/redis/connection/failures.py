"""Errors of a Redis server and of its client library, and what they mean for a caller."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from redis import exceptions

from drumbeat.backends.redis.connection.address import Address
from drumbeat.model.errors import ConfigurationError, Unavailable

FAILURES = (exceptions.RedisError, OSError)
"""What the client library raises when a call fails."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """An error in words, and whether only another setting can fix it."""

    reason: str
    by_setting: bool = False


_INSECURE = Meaning("no secure connection can be made", by_setting=True)
_KINDS: tuple[tuple[type[Exception], Meaning], ...] = (
    (
        exceptions.AuthenticationError,
        Meaning("it rejects the user name or the password of the address", by_setting=True),
    ),
    (
        exceptions.NoPermissionError,
        Meaning(
            "its access rules deny the user a command or key that Drumbeat needs", by_setting=True
        ),
    ),
    (
        exceptions.ReadOnlyError,
        Meaning(
            "it is a read-only replica; name the primary, or its Sentinels with redis+sentinel://",
            by_setting=True,
        ),
    ),
    (
        exceptions.MovedError,
        Meaning("it is a node of a Redis Cluster; name a single primary", by_setting=True),
    ),
    (exceptions.OutOfMemoryError, Meaning("it has no memory left; raise its maxmemory")),
    (exceptions.BusyLoadingError, Meaning("it is still loading its data")),
    (exceptions.TimeoutError, Meaning("it does not answer")),
    (TimeoutError, Meaning("it does not answer")),
    (exceptions.ConnectionError, Meaning("the connection failed")),
    (OSError, Meaning("the connection failed")),
)
_PREFIXES = {
    "MISCONF": Meaning("it cannot save its data to disk and therefore takes no writes"),
    "NOREPLICAS": Meaning("too few of its replicas are connected for it to take writes"),
    "BUSY": Meaning("a script keeps it busy"),
    "DENIED": Meaning("it runs in protected mode; give it a password", by_setting=True),
}


def meaning_of(error: BaseException) -> Meaning:
    cause: BaseException | None = error
    while cause is not None:  # a refused certificate arrives wrapped in an error of the connection
        if isinstance(cause, ssl.SSLError):
            return _INSECURE
        cause = cause.__cause__ or cause.__context__
    by_prefix = _PREFIXES.get(str(error).partition(" ")[0])
    if by_prefix is not None:
        return by_prefix
    for kind, meaning in _KINDS:
        if isinstance(error, kind):
            return meaning
    return Meaning("it answered with an error")


def unavailable(address: Address, error: BaseException) -> Unavailable:
    return Unavailable(_sentence(address, error))


def refused(address: Address, error: BaseException) -> ConfigurationError | Unavailable:
    """The error when opening: `ConfigurationError` if only another setting can fix it."""
    if meaning_of(error).by_setting:
        return ConfigurationError(_sentence(address, error))
    return unavailable(address, error)


def _sentence(address: Address, error: BaseException) -> str:
    said = str(error).strip() or type(error).__name__
    return f"Redis at {address.shown} is not available: {meaning_of(error).reason} ({said})"
