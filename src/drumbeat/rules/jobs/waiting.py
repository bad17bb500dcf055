"""Why a queued job was not started yet: what can be told from the workers of its queue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, TypeVar

from drumbeat.model.fleet.node import Role


class Worker(Protocol):
    """What a node says about its work."""

    @property
    def roles(self) -> Collection[Role]:
        """What it does."""
        ...

    @property
    def queues(self) -> Collection[str]:
        """The queues that it serves."""
        ...

    @property
    def slots(self) -> int:
        """How many jobs it may run at once."""
        ...

    @property
    def busy(self) -> int:
        """How many it runs."""
        ...

    @property
    def draining(self) -> bool:
        """Whether it takes no more."""
        ...


W = TypeVar("W", bound=Worker)


def workers_of(queue: str, nodes: Iterable[W]) -> list[W]:
    """The nodes that may take jobs of the queue."""
    return [
        node
        for node in nodes
        if Role.WORKER in node.roles and queue in node.queues and not node.draining
    ]


def why_not_started(task: str, workers: Sequence[Worker]) -> str:
    """Why a job of the task may wait for long, although these workers serve its queue."""
    if all(node.busy >= node.slots for node in workers):
        return "every worker of its queue is busy"
    return (
        f"workers of its queue have room, so it may be that none of them knows the task {task!r}, "
        f"that a limit holds it up, or that none has a free process for it"
    )
