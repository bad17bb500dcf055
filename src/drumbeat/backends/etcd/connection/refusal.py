"""Errors of etcd, and what they mean for a caller."""

from __future__ import annotations

import msgspec

from drumbeat.backends.etcd.connection.messages import Complaint
from drumbeat.backends.http.failover_client import HttpResponse
from drumbeat.model.errors import ConfigurationError, Unavailable

INVALID = 3
NOT_FOUND = 5
DENIED = 7
PRECONDITION = 9
UNAUTHENTICATED = 16

_NAMELESS = "user name is empty"
_OUTDATED = "revision of auth store is old"
_WRONG_PASSWORD = "authentication failed"  # noqa: S105 - what etcd says, not a password


class Refused(Unavailable):
    """etcd answered with an error. Only the coordinator looks at the code."""

    def __init__(self, endpoint: str, complaint: Complaint) -> None:
        self.code = complaint.code
        self.reason = complaint.message
        super().__init__(f"etcd at {endpoint} refused a call: {complaint.message}")

    @property
    def is_about_the_token(self) -> bool:
        """Whether a new token may help: the old one expired, or permissions have changed since."""
        return self.code == UNAUTHENTICATED or any(
            words in self.reason for words in (_NAMELESS, _OUTDATED)
        )


def refusal(answer: HttpResponse) -> Refused:
    """The error in a response whose status is not 200."""
    try:
        complaint = msgspec.json.decode(answer.body, type=Complaint, strict=False)
    except msgspec.MsgspecError:
        complaint = Complaint(message=answer.text or f"HTTP status {answer.status}")
    return Refused(answer.endpoint, complaint)


def explained(refused: Refused, user: str) -> Refused | ConfigurationError:
    """The error as callers see it: a `ConfigurationError` if only a person can fix it."""
    if _NAMELESS in refused.reason:
        return ConfigurationError(
            "etcd requires a user; write the address as 'etcd://user:password@host:2379'"
        )
    if _WRONG_PASSWORD in refused.reason:
        return ConfigurationError(
            f"etcd rejects the user name {user!r} or its password; "
            f"correct the address of the coordinator"
        )
    if refused.code == DENIED:
        return ConfigurationError(
            f"etcd denies permission to the user {user!r}; "
            f"grant it read and write access to all keys below the prefix"
        )
    return refused
