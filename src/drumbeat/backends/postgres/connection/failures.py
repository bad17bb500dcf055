"""Failures: what the errors of the client and the server mean for a caller.

A temporary error is `Unavailable`: the server is unreachable, full or busy. The statement may have
been executed nevertheless, so nothing is repeated here. An error that only a person can fix is a
`ConfigurationError`. Any other error is a bug in Drumbeat and is not translated.
"""

from __future__ import annotations

import ssl

from drumbeat.backends.postgres.connection import client
from drumbeat.backends.postgres.connection.address import Address
from drumbeat.backends.postgres.connection.client import Connection, sqlstate_of
from drumbeat.model.errors import ConfigurationError, DrumbeatError, Unavailable

READ_ONLY = "this server is read-only: it may be a standby, so name the primary in the address"
LOST = "the connection was lost"
_READ_ONLY = "25006"
_MEANINGS = {
    _READ_ONLY: READ_ONLY,
    "25P03": "the server ended a transaction that was left open",
    "40001": "a transaction clashed with another",
    "40P01": "two transactions waited for each other, and the server ended this one",
    "53100": "the server's disk is full",
    "53200": "the server has no memory left",
    "53300": "the server has no connection left for us; raise max_connections, or use a pooler",
    "55P03": "another transaction kept a lock for too long",
    "57014": "it took too long, and the server ended it",
    "57P01": "the server ended the connection",
    "57P02": "the server ended the connection after a crash",
    "57P03": "the server does not take connections at this moment",
    "57P05": "the server ended the connection since it was idle",
}
_CLASSES = {
    "08": LOST,
    "53": "the server has run out of something",
    "57": "an operator of the server stepped in",
    "58": "the server's system failed",
    "XX": "the server failed",
}
_CONFIGURATION = {
    "28000": "the server refuses this user",
    "28P01": "the password is wrong",
    "3D000": "there is no such database",
    "42501": "this user may not do what is needed",
}
_CONNECTION_OVER = frozenset({_READ_ONLY, "57P01", "57P02", "57P03"})
"""After these errors another connection, perhaps to another host, may work."""


def translated(
    error: BaseException, address: Address, connection: Connection | None = None
) -> DrumbeatError | None:
    """The error for callers, with the reason in words; None: it is a bug in Drumbeat."""
    said = " ".join(address.scrubbed(str(error)).split())  # on one line
    if isinstance(error, client.ServerError):
        return _of_the_server(sqlstate_of(error), said, address)
    if isinstance(error, client.BadAddress):
        return ConfigurationError(
            f"the address of PostgreSQL at {address.shown} cannot be used: {said}"
        )
    if isinstance(error, client.NoSuchHost):
        return unavailable(address, "none of its hosts takes writes", said)
    if isinstance(error, ssl.SSLCertVerificationError):
        return ConfigurationError(
            f"PostgreSQL at {address.shown} has a certificate that is not trusted: {said}"
        )
    if isinstance(error, TimeoutError):
        return unavailable(address, "it did not answer in time", said)
    if isinstance(error, OSError):
        return unavailable(address, "it cannot be reached", said)
    if isinstance(error, client.ProtocolError):  # its text is about the client's internals
        return unavailable(address, LOST)
    if isinstance(error, client.ClientError) and connection is not None and connection.is_closed():
        return unavailable(address, LOST)
    return None


def ends_the_connection(error: BaseException) -> bool:
    """Whether the connection that raised it should not be used again."""
    return (
        sqlstate_of(error) in _CONNECTION_OVER
        or sqlstate_of(error).startswith("08")
        or isinstance(error, OSError | client.ProtocolError)
    )


def is_outage(error: Exception) -> bool:
    """Whether every caller gets this error.

    A server without a free connection (class 53) still serves those who have one.
    """
    cause = error.__cause__
    full = cause is not None and sqlstate_of(cause).startswith("53")
    return isinstance(error, Unavailable) and not full


def unavailable(address: Address, meaning: str, said: str = "") -> Unavailable:
    """An error of the whole database, with the reason in words."""
    detail = f" ({said})" if said else ""
    return Unavailable(f"PostgreSQL at {address.shown} is not available: {meaning}{detail}")


def _of_the_server(state: str, said: str, address: Address) -> DrumbeatError | None:
    if state in _CONFIGURATION:
        return ConfigurationError(
            f"PostgreSQL at {address.shown} cannot be used: {_CONFIGURATION[state]} ({said})"
        )
    meaning = _MEANINGS.get(state) or _CLASSES.get(state[:2])
    if meaning is LOST:  # the client raised it, with no further detail
        return unavailable(address, meaning)
    return None if meaning is None else unavailable(address, meaning, said)
