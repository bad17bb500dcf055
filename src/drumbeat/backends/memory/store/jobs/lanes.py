"""Lanes: the jobs of one task in one queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from drumbeat.backends.memory.store.jobs.job_record import Place
from drumbeat.backends.memory.store.jobs.ordered_queue import OrderedQueue
from drumbeat.model.jobs.job import Limit, Rate, Status


@dataclass(slots=True, eq=False)
class SpentRate:
    """The jobs of a lane that wait until their rate lets one start."""

    rate: Rate
    jobs: list[Place] = field(default_factory=list[Place])
    """A heap."""
    awaited: bool = False
    """Whether it is among the lane's openings."""


@dataclass(slots=True, eq=False)
class LimitGroup:
    """The jobs of a lane that share their limits and their rate."""

    in_front: int = 0
    """How many of them are in the lane's queue, or parked."""
    front: Place | None = None
    """The best of these, if known: worse jobs may wait behind it."""
    behind: list[Place] = field(default_factory=list[Place])
    """A heap of the others."""


class Lane:
    """The queued jobs of one task in one queue, and how many of its jobs have each status.

    A worker looks only at the lanes of its queues and its tasks, so jobs that it cannot run do not
    slow it down.
    """

    __slots__ = ("groups", "openings", "queue", "ready", "spent", "tally", "task")

    def __init__(self, queue: str, task: str) -> None:
        self.queue = queue
        self.task = task
        self.ready: OrderedQueue[Place] = OrderedQueue()
        self.tally: dict[Status, int] = dict.fromkeys(Status, 0)
        self.groups: dict[tuple[tuple[Limit, ...], Rate | None], LimitGroup] = {}
        self.spent: dict[Rate, SpentRate] = {}
        self.openings: list[tuple[datetime, int, SpentRate]] = []
        """A heap: when each of the spent rates is looked at again."""


class Lanes:
    """All lanes, by queue and task."""

    __slots__ = ("_queues",)

    def __init__(self) -> None:
        self._queues: dict[str, dict[str, Lane]] = {}

    def of(self, queue: str, task: str) -> Lane:
        """The lane of a task in a queue, created at its first job."""
        try:
            return self._queues[queue][task]
        except KeyError:
            lane = self._queues.setdefault(queue, {})[task] = Lane(queue, task)
            return lane

    def within(self, queues: tuple[str, ...]) -> list[Lane]:
        """The lanes of some queues, each once."""
        if len(queues) == 1:
            return self._tasks(queues[0])
        return [lane for queue in dict.fromkeys(queues) for lane in self._tasks(queue)]

    def counts(self) -> dict[str, dict[Status, int]]:
        """How many jobs of each queue have each status; statuses without jobs are left out."""
        counts: dict[str, dict[Status, int]] = {}
        for queue in self._queues:
            statuses: dict[Status, int] = {}
            for lane in self._tasks(queue):
                for status, count in lane.tally.items():
                    if count:
                        statuses[status] = statuses.get(status, 0) + count
            if statuses:
                counts[queue] = statuses
        return counts

    def discard_if_empty(self, lane: Lane) -> None:
        if not any(lane.tally.values()):
            tasks = self._queues[lane.queue]
            tasks.pop(lane.task, None)
            if not tasks:
                del self._queues[lane.queue]

    def _tasks(self, queue: str) -> list[Lane]:
        tasks = self._queues.get(queue)
        return [*tasks.values()] if tasks else []
