"""Errors about what does not exist."""

from __future__ import annotations

from drumbeat.model.errors.root import DrumbeatError, NamedError


class NotFound(DrumbeatError, LookupError):
    """Something was named that does not exist."""

    kind = "not-found"


class UnknownTask(NotFound):
    """No task of that name is registered here."""

    kind = "unknown-task"

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        self.name = name
        self.known = known
        listed = ", ".join(sorted(known)[:10]) or "none"
        super().__init__(f"no task is named {name!r}; registered here: {listed}")


class UnknownSchedule(NamedError, NotFound):
    """No schedule of that name exists."""

    kind = "unknown-schedule"
    sentence = "no schedule is named {!r}"


class UnknownJob(NotFound):
    """No job of that id exists, or its retention is over."""

    kind = "unknown-job"

    def __init__(self, job_id: int) -> None:
        self.job_id = job_id
        super().__init__(f"no job has the id {job_id}; finished jobs are pruned after a while")


class UnknownOperation(NotFound):
    """No operation of that id exists, or its retention is over."""

    kind = "unknown-operation"

    def __init__(self, operation_id: int) -> None:
        self.operation_id = operation_id
        super().__init__(f"no operation has the id {operation_id}")


class UnknownQueue(NamedError, NotFound):
    """No job was ever in a queue of that name."""

    kind = "unknown-queue"
    sentence = "no job was ever in a queue {!r}"


class UnknownNode(NamedError, NotFound):
    """No live node has that identity or label."""

    kind = "unknown-node"
    sentence = "no live node is named {!r}; look at the list of nodes"


class UnknownElection(NamedError, NotFound):
    """No election of that name exists."""

    kind = "unknown-election"
    sentence = "there is no election {!r}; there is 'scheduler'"


class UnknownKey(NotFound):
    """The shared configuration has no value for that key, or the key is Drumbeat's own."""

    kind = "unknown-key"
    parameter = "key"


class UnknownToken(NamedError, NotFound):
    """No token has that name or id."""

    kind = "unknown-token"
    sentence = "no token has the name or the id {!r}"
