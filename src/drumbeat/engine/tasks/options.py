"""Options of tasks: how their jobs are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from drumbeat.engine.tasks.limits import RateLimit, SharedLimit, parse_rate, read_on_conflict
from drumbeat.engine.tasks.template import escaped, is_template, names_any
from drumbeat.model.errors import InvalidInput, InvalidOption
from drumbeat.model.jobs.dedupe import check_dedupe_for
from drumbeat.model.jobs.expiry import check_expires, check_retention
from drumbeat.model.jobs.job import (
    DEFAULT_QUEUE,
    HIGHEST_PRIORITY,
    LEADER_QUEUE,
    OnConflict,
)
from drumbeat.model.jobs.retry import DEFAULT_RETRY, Retry
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.time.instant import aware

LONGEST_NAME = 200
Length: TypeAlias = float | str | timedelta
"""A length of time: seconds, or as in "15s"."""
TEMPLATES = ("key", "exclusive", "dedupe_key", "dedupe_scope")
"""Options that may be templates over the arguments."""
OF_THE_TASK = ("heartbeat", "secret", "aliases", "limits")
"""Options that no single job or schedule can have."""
LITERAL_AT_CALLS = frozenset({"exclusive", "dedupe_key", "dedupe_scope"})
"""Those that a call may give as plain text, with any braces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """How the jobs of a task are run. Each can be changed for one call with `task.options()`."""

    queue: str = DEFAULT_QUEUE
    priority: int = 0
    """0 to 100; a higher one runs first."""
    retry: Retry = DEFAULT_RETRY
    timeout: Length | None = None
    """Seconds that one attempt may take."""
    heartbeat: Length | None = None
    """Seconds within which the handler must call `ctx.heartbeat()` or `ctx.progress()`."""
    concurrency: int | None = None
    """How many jobs of this task may run at once in the whole fleet."""
    key: str | None = None
    """A template over the arguments, such as "account-{account_id}", for `key_concurrency`."""
    key_concurrency: int = 1
    """How many jobs with the same key may run at once, over the whole fleet."""
    exclusive: str | None = None
    """At most one job that shares this name runs at once, whatever its task. May be a template."""
    on_conflict: OnConflict | None = None
    """What becomes of a job that finds `concurrency`, `key` or `exclusive` reached: "wait",
    "skip" or "cancel". None: it is cancelled for `exclusive`, and waits for the others."""
    rate_limit: str | RateLimit | None = None
    """How many jobs may start in a period, over the whole fleet: "100/m", "5/10s". For each key:
    `rate_limit("10/m", key="{customer}")`."""
    limits: tuple[str | SharedLimit, ...] = ()
    """Limits that several tasks share, by the names that `app.limit` gave them."""
    dedupe_key: str | None = None
    """No second job with this key is created. May be a template, such as "order-{order_id}"."""
    dedupe_for: Length = timedelta(hours=24)
    dedupe_scope: str | None = None
    """Whose keys these are: jobs of one scope share them. None: the task's. May be a template."""
    delay: Length = timedelta(0)
    run_at: datetime | None = None
    tags: tuple[str, ...] = ()
    expires: Length | datetime | None = None
    """Until when an attempt may start: a length after the job is due, or an instant."""
    retention: Length | None = None
    """How long its finished jobs are kept, instead of `keep_jobs`."""
    aliases: tuple[str, ...] = ()
    """Earlier names of the task: jobs and schedules that are stored under one of them run it."""
    secret: tuple[str, ...] = ()
    """Arguments whose values are never shown by the API and the command line. The store has them
    in clear text."""

    given: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The names of those that were given, and are not defaults of the app."""

    def __post_init__(self) -> None:
        self._check_kinds()
        self._check_queue()
        if not 0 <= self.priority <= HIGHEST_PRIORITY:
            raise InvalidOption(f"priority must lie between 0 and 100, not {self.priority}")
        for name in ("timeout", "heartbeat"):
            value = getattr(self, name)
            if value is not None and not length(name, value):
                raise InvalidOption(f"{name} must be longer than zero, not {value!r}")
        delay = length("delay", self.delay)
        check_dedupe_for(length("dedupe_for", self.dedupe_for))
        check_expires(expiry(self.expires))
        check_retention(optional_length("retention", self.retention))
        if self.run_at is not None:
            object.__setattr__(self, "run_at", aware("run_at", self.run_at))
            if delay:
                raise InvalidOption("give run_at or delay, not both")
        self._check_limits()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TaskOptions:
        """Options by name; an unknown name is refused."""
        return cls().but(given)

    def but(self, changes: Mapping[str, Any]) -> TaskOptions:
        """These options with some changed by name; an unknown name is refused."""
        known = [option.name for option in fields(self) if option.name != "given"]
        unknown = changes.keys() - set(known)
        if unknown:
            raise InvalidOption(f"unknown option {min(unknown)!r}; known: {', '.join(known)}")
        return replace(self, **changes, given=self.given | changes.keys())

    def over(self, defaults: TaskOptions) -> TaskOptions:
        """What was given here, and otherwise these defaults."""
        return defaults.but({name: getattr(self, name) for name in self.given})

    @property
    def templates(self) -> Mapping[str, str]:
        """The options that have to be read as templates, by name."""
        given = {name: getattr(self, name) for name in TEMPLATES}
        if isinstance(self.rate_limit, RateLimit):
            given["rate_limit"] = self.rate_limit.key
        return {name: text for name, text in given.items() if text and is_template(text)}

    def _check_kinds(self) -> None:
        for name in ("priority", "concurrency", "key_concurrency"):
            value: object = getattr(self, name)
            if not isinstance(value, int) and (name != "concurrency" or value is not None):
                raise InvalidOption(f"{name} must be a whole number, not {value!r}")
        if not _is(self.retry, Retry):
            raise InvalidOption(
                f"retry must be a Retry such as Retry.linear(3), not {self.retry!r}"
            )
        for name in TEMPLATES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InvalidOption(f"{name} must be text, not {value!r}")
        for name in ("tags", "secret", "aliases", "limits"):
            if _is(getattr(self, name), str):
                raise InvalidOption(f"{name} must be a tuple of names, not {getattr(self, name)!r}")

    def _check_queue(self) -> None:
        if (
            not _is(self.queue, str)
            or not self.queue
            or len(self.queue) > LONGEST_NAME
            or self.queue == LEADER_QUEUE
        ):
            raise InvalidOption(
                f"queue must be a name of 1 to {LONGEST_NAME} characters other than "
                f"{LEADER_QUEUE!r}, not {self.queue!r}"
            )

    def _check_limits(self) -> None:
        if self.concurrency is not None and self.concurrency < 1:
            raise InvalidOption(f"concurrency must be at least 1, not {self.concurrency}")
        if self.key_concurrency < 1:
            raise InvalidOption(f"key_concurrency must be at least 1, not {self.key_concurrency}")
        if self.on_conflict is not None:
            object.__setattr__(self, "on_conflict", read_on_conflict(self.on_conflict))
        if self.rate_limit is not None and not isinstance(self.rate_limit, RateLimit):
            parse_rate("", self.rate_limit)


def refuse_task_options(changes: Mapping[str, Any]) -> None:
    """Refuse options that belong to the task, and would change nothing for a job of it."""
    for name in OF_THE_TASK:
        if name in changes:
            raise InvalidOption(f"{name} belongs to the task: give it to @app.task")


def as_templates(changes: Mapping[str, Any], parameters: frozenset[str]) -> dict[str, Any]:
    """Options of a call, where text that names no parameter of the task stands for itself."""
    return {
        name: escaped(value)
        if name in LITERAL_AT_CALLS
        and isinstance(value, str)
        and is_template(value)
        and not names_any(value, parameters)
        else value
        for name, value in changes.items()
    }


def _is(value: object, kind: type) -> bool:
    """Guards callers that do not use a type checker."""
    return isinstance(value, kind)


def length(name: str, value: Length) -> timedelta:
    try:
        return parse_duration(value)
    except (InvalidInput, TypeError) as error:
        raise InvalidOption(f"{name}: {error}") from None


def optional_length(name: str, value: Length | None) -> timedelta | None:
    """A length, or None."""
    return None if value is None else length(name, value)


def expiry(value: Length | datetime | None) -> timedelta | datetime | None:
    """The option `expires` as the store has it."""
    if value is None:
        return None
    return aware("expires", value) if isinstance(value, datetime) else length("expires", value)


def seconds(name: str, value: Length | None) -> float | None:
    return None if value is None else length(name, value).total_seconds()
