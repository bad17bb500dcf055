"""Errors about changes that the present state does not allow."""

from __future__ import annotations

from drumbeat.model.errors.root import DrumbeatError, NamedError


class Conflict(DrumbeatError):
    """Another write came first; nothing was changed."""

    kind = "conflict"


class StaleEpoch(Conflict):
    """A leader's write after its term: another node has led since."""

    def __init__(self, ours: int, seen: int) -> None:
        self.ours = ours
        self.seen = seen
        super().__init__(f"epoch {ours} is over; epoch {seen} has written since")


class IllegalChange(Conflict):
    """A status change that is not legal."""

    def __init__(self, before: str, change: str) -> None:
        self.before = before
        self.change = change
        super().__init__(f"a job that is {before} cannot {change}")


class Contended(Conflict):
    """A guarded write that failed in every try, because of other writers."""


class VersionMismatch(Conflict):
    """The schedule is not at the expected version; nothing was changed."""

    kind = "version-mismatch"

    def __init__(self, schedule: str, version: int | None) -> None:
        self.schedule = schedule
        self.version = version
        """The present one; None: there is no such schedule."""
        super().__init__(
            f"there is no schedule {schedule!r}"
            if version is None
            else f"schedule {schedule!r} is at version {version}; look at it again"
        )


class RevisionMismatch(Conflict):
    """The shared value is not at the expected revision; nothing was changed."""

    kind = "changed-meanwhile"

    def __init__(self, key: str, revision: int) -> None:
        self.key = key
        self.revision = revision
        super().__init__(
            f"{key!r} is no longer at revision {revision}; look again"
            if revision
            else f"something is kept under {key!r} already"
        )


class WrongStatus(Conflict):
    """A job or an operation whose status forbids the change; nothing was changed."""

    kind = "status"
    parameter = "status"

    def __init__(self, message: str, status: str | None = None, rule: str | None = None) -> None:
        self.status = status
        self.rule = rule
        super().__init__(message)


class NoTick(Conflict):
    """A schedule has no tick left to skip, or none that is skipped."""

    kind = "no-tick"


class NobodyLeads(Conflict):
    """A hand-over was requested, but no node leads."""

    kind = "nobody-leads"


class TokenNameTaken(NamedError, Conflict):
    """Another token that is not revoked has that name; nothing was added."""

    kind = "name-taken"
    parameter = "name"
    sentence = "a token named {!r} is in use; revoke it, or choose another name"
