"""Specs: jobs to create, as the arrays that the database takes many of them in.

What many jobs of a batch have in common is sent once, as a *kind*: queue, task, priority, retry,
time-out, limits and rate. Columns that only few jobs have are sent only if one of the batch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from drumbeat.model.document import options_to_text, tags_to_text
from drumbeat.model.instant import aware
from drumbeat.model.job import JobSpec
from drumbeat.model.retry import DEFAULT_RETRY
from drumbeat.stores.postgres.lengths import to_microseconds
from drumbeat.stores.postgres.terms import terms_to_text
from drumbeat.stores.postgres.texts import name

USUAL_GUARD = JobSpec("").dedupe_for

Kind: TypeAlias = tuple[str, str, int, str | None, str | None]
"""Queue, task, rank, options, terms."""


class Specs:
    """A batch of them. Refuses what cannot be written before anything is."""

    def __init__(self, specs: Sequence[JobSpec]) -> None:
        self._specs = specs
        self._numbers: dict[Kind, int] = {}
        self._kinds: list[int] = []
        self._unusual: list[int] = []
        self._gather()

    @property
    def arrays(self) -> list[Any]:
        """The arrays, in the order of the parameters of every function that creates jobs."""
        queues, tasks, ranks, options, terms = [
            list(each) for each in zip(*self._numbers, strict=True)
        ] or [[], [], [], [], []]
        arguments = [spec.arguments for spec in self._specs]
        return [queues, tasks, ranks, options, terms, self._kinds, arguments, *self._rare()]

    @property
    def alike(self) -> list[Any] | None:
        """The one kind, and the arguments, if the jobs differ in nothing else; else None."""
        if len(self._numbers) != 1 or self._unusual:
            return None
        ((*kind, terms),) = self._numbers
        if terms is not None:
            return None
        return [*kind, [spec.arguments for spec in self._specs]]

    def _gather(self) -> None:
        before: JobSpec | None = None
        number = 0
        for index, spec in enumerate(self._specs):
            if (
                before is None
                or spec.task != before.task
                or spec.queue != before.queue
                or spec.priority != before.priority
                or spec.retry is not before.retry
                or spec.timeout != before.timeout
                or spec.trace != before.trace
                or spec.limits is not before.limits
                or spec.rate is not before.rate
            ):
                number = self._number(spec)
            before = spec
            self._kinds.append(number)
            if (
                spec.run_at is not None
                or spec.schedule is not None
                or spec.dedupe_key is not None
                or spec.delay
                or spec.tags
                or spec.tick_at is not None
                or (spec.dedupe_for is not USUAL_GUARD and spec.dedupe_for != USUAL_GUARD)
            ):
                self._unusual.append(index)

    def _number(self, spec: JobSpec) -> int:
        kind = (
            name("queue", spec.queue),
            name("task", spec.task),
            -spec.priority,
            _options(spec),
            terms_to_text(spec.limits, spec.rate),
        )
        return self._numbers.setdefault(kind, len(self._numbers) + 1)

    def _rare(self) -> list[list[Any] | None]:
        if not self._unusual:
            return [None] * 7
        columns: list[list[Any] | None] = [None] * 7
        for index in self._unusual:
            for place, value in enumerate(_rare_of(self._specs[index])):
                if value is not None:
                    column = columns[place]
                    if column is None:
                        column = columns[place] = [None] * len(self._specs)
                    column[index] = value
        return columns


def plain_of(spec: JobSpec) -> dict[str, object]:
    """One of them as an object of JSON, for a caller's own transaction; arguments come apart."""
    asked, delay, key, key_time, schedule, tick, tags = _rare_of(spec)
    return {
        "queue": name("queue", spec.queue),
        "task": name("task", spec.task),
        "rank": -spec.priority,
        "options": _options(spec),
        "terms": terms_to_text(spec.limits, spec.rate),
        "asked": None if asked is None else asked.isoformat(),
        "delay": delay,
        "key": key,
        "key_time": key_time,
        "schedule": schedule,
        "tick": None if tick is None else tick.isoformat(),
        "tags": tags,
    }


def _options(spec: JobSpec) -> str | None:
    """Null for the defaults, which most jobs have."""
    retry, timeout, trace = spec.retry, spec.timeout, spec.trace
    usual = timeout is None and trace is None
    if usual and (retry is DEFAULT_RETRY or retry == DEFAULT_RETRY):
        return None
    return options_to_text(retry, timeout, trace)


def _rare_of(spec: JobSpec) -> tuple[Any, ...]:
    """The columns that only few jobs have, in their order."""
    key, dedupe_for = spec.dedupe_key, spec.dedupe_for
    return (
        None if spec.run_at is None else aware("run_at", spec.run_at),
        to_microseconds(spec.delay) if spec.delay else None,
        None if key is None else name("dedupe_key", key),
        None if dedupe_for == USUAL_GUARD else to_microseconds(dedupe_for),
        None if spec.schedule is None else name("schedule", spec.schedule),
        None if spec.tick_at is None else aware("tick_at", spec.tick_at),
        tags_to_text([name("a tag", tag) for tag in spec.tags]) if spec.tags else None,
    )
