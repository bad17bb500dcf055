"""Listeners of one task or of one schedule, beside those of the whole app."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from drumbeat.engine.plumbing.bus import Bus, refuse_other_kinds
from drumbeat.model.errors import InvalidHook, InvalidInput
from drumbeat.model.events import Event
from drumbeat.model.jobs.job import Attempt, Job

L = TypeVar("L", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Subject:
    """The task or the schedule that events are about; None: any.

    A scheduled task has both: its events are those of the task, and those of the schedule.
    """

    task: str | None = None
    schedule: str | None = None
    either: bool = False
    """Whether one of the two suffices."""

    def check(self, kind: type[Event]) -> None:
        """Refuse a kind of events that never names what is asked for."""
        names = frozenset(field.name for field in fields(kind))
        has_job = bool(names & {"attempt", "job"})
        named = {
            "task": has_job or "task" in names,
            "schedule": has_job or "schedule" in names,
        }
        asked = [name for name in named if getattr(self, name) is not None]
        found = [name for name in asked if named[name]]
        if kind is not Event and len(found) < (1 if self.either else len(asked)):
            missing = next(name for name in asked if name not in found)
            raise InvalidInput(f"{kind.__name__} events do not name a {missing}{_hint(missing)}")

    def matches(self, event: Event) -> bool:
        task, schedule = _named_by(event)
        if self.either and task is None:
            return schedule == self.schedule
        if self.either:
            return task == self.task
        return self.task in (None, task) and self.schedule in (None, schedule)


def listen(bus: Bus, kind: type[Event], subject: Subject, listener: L) -> L:
    """Call the listener for the events of the kind about the subject."""
    if not callable(listener):
        raise InvalidHook(f"a listener has to be a function, not {listener!r}")
    if inspect.isgeneratorfunction(listener) or inspect.isasyncgenfunction(listener):
        raise InvalidHook(f"listener {listener.__qualname__!r} is a generator")
    if subject == Subject():
        bus.on(kind, listener)
        return listener

    def matching(event: Event) -> Any:
        return listener(event) if subject.matches(event) else None

    refuse_other_kinds(kind)
    subject.check(kind)
    bus.on(kind, matching)
    return listener


def _named_by(event: Event) -> tuple[str | None, str | None]:
    """The task and the schedule that an event names."""
    subject: object = getattr(event, "attempt", None) or getattr(event, "job", None)
    if isinstance(subject, Attempt | Job):
        return subject.spec.task, subject.spec.schedule
    return getattr(event, "task", None), getattr(event, "schedule", None)


def _hint(missing: str) -> str:
    return "; use app.on(kind, schedule=...)" if missing == "task" else ""
