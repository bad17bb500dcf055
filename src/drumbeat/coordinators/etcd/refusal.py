"""Refusal: why etcd did not do what it was asked, and what that means for a caller."""

from __future__ import annotations

import msgspec

from drumbeat.coordinators.etcd.messages import Complaint
from drumbeat.model.errors import ConfigurationError, Unavailable
from drumbeat.remote.exchange import Answer

INVALID = 3
NOT_FOUND = 5
DENIED = 7
PRECONDITION = 9
UNAUTHENTICATED = 16

_LONGEST = 200
_NAMELESS = "user name is empty"
_OUTDATED = "revision of auth store is old"
_WRONG_PASSWORD = "authentication failed"  # noqa: S105 - what etcd says, not a password


class Refused(Unavailable):
    """etcd answered, and said no. Nobody but the coordinator looks at the code."""

    def __init__(self, endpoint: str, complaint: Complaint) -> None:
        self.code = complaint.code
        self.reason = complaint.message
        super().__init__(f"etcd at {endpoint} refused a call: {complaint.message}")

    @property
    def is_about_the_token(self) -> bool:
        """Whether a new token may help: the old one ran out, or rights were changed since."""
        return self.code == UNAUTHENTICATED or any(
            words in self.reason for words in (_NAMELESS, _OUTDATED)
        )


def refusal(answer: Answer) -> Refused:
    """What an answer other than 200 says."""
    try:
        complaint = msgspec.json.decode(answer.body, type=Complaint, strict=False)
    except msgspec.MsgspecError:
        text = answer.body[:_LONGEST].decode(errors="replace").strip()
        complaint = Complaint(message=text or f"HTTP status {answer.status}")
    return Refused(answer.endpoint, complaint)


def explained(refused: Refused, user: str) -> Refused | ConfigurationError:
    """The refusal as callers see it: what only a person can repair is a fault of the settings."""
    if _NAMELESS in refused.reason:
        return ConfigurationError(
            "etcd asks for a user; write the address as 'etcd://user:password@host:2379'"
        )
    if _WRONG_PASSWORD in refused.reason:
        return ConfigurationError(
            f"etcd does not know the user {user!r}, or not by this password; "
            f"correct the address of the coordinator"
        )
    if refused.code == DENIED:
        return ConfigurationError(
            f"etcd denies the user {user!r} what Drumbeat needs; "
            f"grant it to read and write all keys below the prefix"
        )
    return refused
