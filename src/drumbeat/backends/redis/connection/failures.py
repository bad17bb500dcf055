"""Errors of a Redis server and of its client library, and what they mean for a caller."""

from __future__ import annotations

import ssl
from typing import NamedTuple

from redis import exceptions

from drumbeat.backends.redis.connection.address import Address
from drumbeat.model.errors import ConfigurationError, Unavailable

FAILURES = (exceptions.RedisError, OSError)
"""What the client library raises when a call fails."""


_FIXED_BY_SETTINGS: dict[type[Exception], str] = {
    exceptions.AuthenticationError: "it rejects the user name or the password of the address",
    exceptions.NoPermissionError: (
        "its access rules deny the user a command or key that Drumbeat needs"
    ),
    exceptions.ReadOnlyError: (
        "it is a read-only replica; name the primary, or its Sentinels with redis+sentinel://"
    ),
    exceptions.MovedError: "it is a node of a Redis Cluster; name a single primary",
}
_TEMPORARY: dict[type[Exception], str] = {
    exceptions.OutOfMemoryError: "it has no memory left; raise its maxmemory",
    exceptions.BusyLoadingError: "it is still loading its data",
    exceptions.TimeoutError: "it does not answer",
    TimeoutError: "it does not answer",
    exceptions.ConnectionError: "the connection failed",
    OSError: "the connection failed",
}
"""By kind; the first that fits counts, after those above."""
_TEMPORARY_PREFIXES = {
    "MISCONF": "it cannot save its data to disk and therefore takes no writes",
    "NOREPLICAS": "too few of its replicas are connected for it to take writes",
    "BUSY": "a script keeps it busy",
}


_FIXED_PREFIXES = {
    "DENIED": "it runs in protected mode; give it a password",
    "WRONGTYPE": (
        "a key that Drumbeat uses holds something else; give Drumbeat another namespace, or the "
        "queue another redis_stream_name"
    ),
    "NOPERM": _FIXED_BY_SETTINGS[exceptions.NoPermissionError],
    "MOVED": _FIXED_BY_SETTINGS[exceptions.MovedError],
}
_NO_RIGHT_IN_SCRIPT = "The user executing the script can't"
"""How some versions say that a command within a script is denied."""


class Meaning(NamedTuple):
    """An error in words, and whether only another setting can fix it."""

    reason: str
    by_setting: bool = False


def meaning_of(error: BaseException) -> Meaning:
    cause: BaseException | None = error
    while cause is not None:  # a refused certificate arrives wrapped in an error of the connection
        if isinstance(cause, ssl.SSLError):
            return Meaning("no secure connection can be made", by_setting=True)
        cause = cause.__cause__ or cause.__context__
    prefix = str(error).partition(" ")[0]
    if _NO_RIGHT_IN_SCRIPT in str(error):
        prefix = "NOPERM"
    if prefix in _FIXED_PREFIXES:
        return Meaning(_FIXED_PREFIXES[prefix], by_setting=True)
    if prefix in _TEMPORARY_PREFIXES:
        return Meaning(_TEMPORARY_PREFIXES[prefix])
    for table, by_setting in ((_FIXED_BY_SETTINGS, True), (_TEMPORARY, False)):
        for kind, reason in table.items():
            if isinstance(error, kind):
                return Meaning(reason, by_setting)
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
