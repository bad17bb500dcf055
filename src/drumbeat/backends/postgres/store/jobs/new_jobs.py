"""New jobs: a batch of specs as the composite `new_jobs` that the database takes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from drumbeat.backends.postgres.store.jobs.limits import limits_to_text
from drumbeat.backends.postgres.store.storable_text import name
from drumbeat.model.encoding.document import tags_to_text
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.jobs.job_options import JobOptions, options_to_text
from drumbeat.model.time.instant import aware

common_fields = attrgetter("task", "queue", "priority", "limits", "rate", *JobOptions._fields)
"""The fields that jobs of one kind have in common."""
own_fields = attrgetter("dedupe_key", "schedule", "tick_at", "tags")
NO_OWN_FIELDS = own_fields(JobSpec(""))


class Kind(NamedTuple):
    """The columns that jobs of a batch often have in common: sent once."""

    queue: str
    task: str
    rank: int
    options: str | None
    limits: str | None


class OwnColumns(NamedTuple):
    """The other columns of a job, beside its arguments; few jobs have any of them."""

    dedupe_key: str | None
    schedule: str | None
    tick: datetime | None
    tags: str | None


class NewJobs(NamedTuple):
    """The composite type `new_jobs`. An array of one value stands for all."""

    size: int
    queues: list[str]
    tasks: list[str]
    ranks: list[int]
    options: list[str | None]
    limits: list[str | None]
    kinds: list[int]
    arguments: list[bytes]
    dedupe_keys: list[str | None] | None
    schedules: list[str | None] | None
    ticks: list[datetime | None] | None
    tags: list[str | None] | None


class JobBatch:
    """A batch of jobs to create. Rejects what cannot be stored before anything is sent."""

    def __init__(self, specs: Sequence[JobSpec]) -> None:
        self._specs = specs
        self._numbers: dict[Kind, int] = {}
        self._kinds: list[int] = []
        self._with_own: list[int] = []
        before: object = None
        number = 0
        for index, spec in enumerate(specs):
            common = common_fields(spec)
            if common != before:
                before = common
                number = self._numbers.setdefault(kind_of(spec), len(self._numbers) + 1)
            self._kinds.append(number)
            if own_fields(spec) != NO_OWN_FIELDS:
                self._with_own.append(index)

    @property
    def alike(self) -> Kind | None:
        """The kind of all jobs, if they differ only in their arguments and are due now."""
        if len(self._numbers) != 1 or self._with_own:
            return None
        (kind,) = self._numbers
        spec = self._specs[0]
        if kind.limits is not None or spec.run_at is not None or spec.delay:
            return None
        if spec.expires is not None:
            return None
        return kind

    @property
    def new_jobs(self) -> NewJobs:
        columns: list[list[Any]] = [list(each) for each in zip(*self._numbers, strict=True)]
        queues, tasks, ranks, options, limits = map(once, columns or [[], [], [], [], []])
        return NewJobs(
            len(self._specs),
            queues,
            tasks,
            ranks,
            options,
            limits,
            once(self._kinds),
            once([spec.arguments for spec in self._specs]),
            *self._own_columns(),
        )

    def _own_columns(self) -> list[list[Any] | None]:
        columns: list[list[Any] | None] = [None] * len(OwnColumns._fields)
        for index in self._with_own:
            for place, value in enumerate(own_columns_of(self._specs[index])):
                if value is not None:
                    column: list[Any] = columns[place] or [None] * len(self._specs)
                    column[index] = value
                    columns[place] = column
        return [None if column is None else once(column) for column in columns]


def once(values: list[Any]) -> list[Any]:
    """One value for all if all are equal, since encoding each takes time."""
    if values and values.count(values[0]) == len(values):
        return values[:1]
    return values


def kind_of(spec: JobSpec) -> Kind:
    """The kind of a job; `InvalidInput` if it cannot be stored."""
    return Kind(
        name("queue", spec.queue),
        name("task", spec.task),
        -spec.priority,
        options_to_text(spec),
        limits_to_text(spec.limits, spec.rate),
    )


def own_columns_of(spec: JobSpec) -> OwnColumns:
    key = spec.dedupe_guard
    return OwnColumns(
        None if key is None else key.hex(),
        None if spec.schedule is None else name("schedule", spec.schedule),
        None if spec.tick_at is None else aware("tick_at", spec.tick_at),
        tags_to_text([name("a tag", tag) for tag in spec.tags]) if spec.tags else None,
    )
