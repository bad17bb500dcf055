"""Errors about servers that do not answer or that deny access."""

from __future__ import annotations

from drumbeat.model.errors.root import DrumbeatError


class Unavailable(DrumbeatError, ConnectionError):
    """A backend does not answer. The outcome of the call is unknown: read the state again."""

    kind = "store-unavailable"


class CoordinatorUnavailable(Unavailable):
    """The coordinator does not answer, so who leads is not known. The store may well answer."""

    kind = "coordinator-unavailable"


class TooManyStreams(Unavailable):
    """The server has its maximum of open event streams."""

    kind = "too-many-streams"


class AccessError(DrumbeatError, PermissionError):
    """The server denies access; nothing was changed."""


class Unauthorised(AccessError):
    """The server requires a token, and there is none, or it is not valid."""


class Forbidden(AccessError):
    """The scope of the token is too low."""
