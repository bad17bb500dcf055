"""Task definitions: a registered callable, its options, and how its arguments travel."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from drumbeat.engine.tasks.codec import Codec, hints_of
from drumbeat.engine.tasks.context import Context
from drumbeat.model.errors import InvalidHandler, InvalidInput, InvalidOption
from drumbeat.model.fast_construction import fast_replace
from drumbeat.model.jobs.job import (
    DEFAULT_QUEUE,
    HIGHEST_PRIORITY,
    LEADER_QUEUE,
    JobSpec,
    Limit,
    OnConflict,
    Rate,
    check_dedupe_for,
)
from drumbeat.model.jobs.retry import DEFAULT_RETRY, Retry
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.time.instant import aware

LONGEST_NAME = 200
BUILT_IN = "drumbeat."
"""What the names of built-in tasks begin with, and no others."""
changed = fast_replace(JobSpec)
Handler = Callable[..., Any]
Length: TypeAlias = float | str | timedelta
"""A length of time: seconds, or as in "15s"."""


class Place(StrEnum):
    """Where a handler runs."""

    LOOP = "loop"
    THREAD = "thread"
    PROCESS = "process"


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
    """A name made of the arguments, such as "account-{account_id}", for `key_concurrency`."""
    key_concurrency: int = 1
    """How many jobs with the same key may run at once, over the whole fleet."""
    exclusive: str | None = None
    """At most one job that shares this name runs at once, whatever its task."""
    on_conflict: OnConflict = OnConflict.CANCEL
    """What becomes of a job that finds its `exclusive` name taken: "cancel" or "wait"."""
    rate_limit: str | None = None
    """How many jobs may start in a period, over the whole fleet: "100/m", "5/10s"."""
    dedupe_key: str | None = None
    dedupe_for: Length = timedelta(hours=24)
    dedupe_scope: str | None = None
    delay: Length = timedelta(0)
    run_at: datetime | None = None
    tags: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    """Arguments whose values are never shown by the API and the command line. The store has them
    in clear text."""

    def __post_init__(self) -> None:
        self._check_kinds()
        self._check_queue()
        if not 0 <= self.priority <= HIGHEST_PRIORITY:
            raise InvalidOption(f"priority must lie between 0 and 100, not {self.priority}")
        for name in ("timeout", "heartbeat"):
            value = getattr(self, name)
            if value is not None and not _length(name, value):
                raise InvalidOption(f"{name} must be longer than zero, not {value!r}")
        delay = _length("delay", self.delay)
        check_dedupe_for(_length("dedupe_for", self.dedupe_for))
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
        unknown = changes.keys() - {option.name for option in fields(self)}
        if unknown:
            known = ", ".join(option.name for option in fields(self))
            raise InvalidOption(f"unknown option {min(unknown)!r}; known: {known}")
        return replace(self, **changes)

    def _check_kinds(self) -> None:
        for name in ("priority", "concurrency", "key_concurrency"):
            value: object = getattr(self, name)
            if not isinstance(value, int) and (name != "concurrency" or value is not None):
                raise InvalidOption(f"{name} must be a whole number, not {value!r}")
        if not _is(self.retry, Retry):
            raise InvalidOption(
                f"retry must be a Retry such as Retry.linear(3), not {self.retry!r}"
            )
        for name in ("tags", "secret"):
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
        try:
            object.__setattr__(self, "on_conflict", OnConflict(self.on_conflict))
        except ValueError:
            raise InvalidOption(
                f"on_conflict must be 'cancel' or 'wait', not {self.on_conflict!r}"
            ) from None
        if self.rate_limit is not None:
            parse_rate("", self.rate_limit)


def _is(value: object, kind: type) -> bool:
    """Guards callers that do not use a type checker."""
    return isinstance(value, kind)


def _length(name: str, value: Length) -> timedelta:
    try:
        return parse_duration(value)
    except (InvalidInput, TypeError) as error:
        raise InvalidOption(f"{name}: {error}") from None


def _seconds(name: str, value: Length | None) -> float | None:
    return None if value is None else _length(name, value).total_seconds()


def parse_rate(key: str, text: str) -> Rate:
    """`"100/m"` or `"5/10s"` as a rate."""
    amount, _, period = text.partition("/")
    period = period.strip()
    try:
        per = parse_duration(period if period[:1].isdigit() else f"1{period}")
        return Rate(key, int(amount), per if period else timedelta(0))
    except ValueError as error:
        raise InvalidOption(
            f"rate_limit must look like '100/m' or '5/10s', not {text!r}: {error}"
        ) from None


@dataclass(frozen=True, slots=True)
class TaskDefinition:
    """A task: its name, its handler, its options, and how its arguments travel."""

    name: str
    handler: Handler
    place: Place
    options: TaskOptions
    codec: Codec
    takes_context: bool
    spec: JobSpec = field(init=False)
    """What every job of the task has in common."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", self._spec(self.options, None))

    @property
    def heartbeat(self) -> float | None:
        """Seconds without a heartbeat after which the handler counts as hung; None: no limit."""
        return _seconds("heartbeat", self.options.heartbeat)

    def job(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        options: TaskOptions | None = None,
    ) -> JobSpec:
        """The job for a call; refuses arguments that the handler would not take."""
        payload = self.codec.encode(args, kwargs)
        if options is None and self.options.key is None:
            return changed(self.spec, arguments=payload)
        chosen = options or self.options
        named = self.codec.by_name(payload) if chosen.key else None
        return replace(self._spec(chosen, named), arguments=payload)

    def job_for(
        self, call: Sequence[Any] | Mapping[str, Any], options: TaskOptions | None = None
    ) -> JobSpec:
        """The job for arguments in order, or by name."""
        if isinstance(call, Mapping):
            return self.job((), call, options)
        return self.job(tuple(call), {}, options)

    def _spec(self, options: TaskOptions, arguments: Mapping[str, Any] | None) -> JobSpec:
        rate = options.rate_limit
        return JobSpec(
            task=self.name,
            queue=options.queue,
            priority=options.priority,
            run_at=options.run_at,
            delay=_length("delay", options.delay),
            retry=options.retry,
            timeout=_seconds("timeout", options.timeout),
            dedupe_key=options.dedupe_key,
            dedupe_for=_length("dedupe_for", options.dedupe_for),
            dedupe_scope=options.dedupe_scope,
            limits=self._limits(options, arguments),
            rate=None if rate is None else parse_rate(f"task:{self.name}", rate),
            tags=options.tags,
        )

    def _limits(
        self, options: TaskOptions, arguments: Mapping[str, Any] | None
    ) -> tuple[Limit, ...]:
        limits: list[Limit] = []
        if options.concurrency is not None:
            limits.append(Limit(f"task:{self.name}", options.concurrency))
        if options.key is not None and arguments is not None:
            key = _render(self.name, options.key, arguments)
            limits.append(Limit(f"key:{self.name}:{key}", options.key_concurrency))
        if options.exclusive is not None:
            limits.append(Limit(f"exclusive:{options.exclusive}", 1, options.on_conflict))
        return tuple(limits)


def _render(task: str, template: str, arguments: Mapping[str, Any]) -> str:
    try:
        return template.format_map(arguments)
    except (KeyError, IndexError, AttributeError, ValueError) as error:
        raise InvalidOption(
            f"key {template!r} of task {task!r} names what the arguments do not have: {error}"
        ) from None


def define(
    handler: Handler, name: str | None, options: TaskOptions, *, process: bool = False
) -> TaskDefinition:
    """A task for a callable; `InvalidHandler` says why one cannot be a task."""
    named = name or getattr(handler, "__name__", "")
    if not named or len(named) > LONGEST_NAME:
        raise InvalidHandler(
            f"a task needs a callable and a name of 1 to {LONGEST_NAME} characters, not {handler!r}"
        )
    if inspect.isasyncgenfunction(handler) or inspect.isgeneratorfunction(handler):
        raise InvalidHandler(f"task {named!r} is a generator; a task returns or raises")
    hints = hints_of(named, handler)
    parameters = tuple(inspect.signature(handler).parameters.values())
    takes_context = _takes_context(parameters, hints)
    if process:
        _check_importable(named, handler)
    asynchronous = inspect.iscoroutinefunction(handler)
    place = Place.PROCESS if process else Place.LOOP if asynchronous else Place.THREAD
    codec = Codec(named, parameters[1:] if takes_context else parameters, hints)
    unknown = set(options.secret) - set(codec.signature.parameters)
    if unknown:
        raise InvalidOption(
            f"secret names {min(unknown)!r}, which task {named!r} does not take; "
            f"it takes {codec.signature}"
        )
    return TaskDefinition(named, handler, place, options, codec, takes_context)


def _takes_context(parameters: tuple[inspect.Parameter, ...], hints: Mapping[str, Any]) -> bool:
    if not parameters:
        return False
    first = parameters[0].name
    return hints.get(first) is Context or (first == "ctx" and first not in hints)


def _check_importable(name: str, handler: Handler) -> None:
    if "<" in getattr(handler, "__qualname__", "<") or inspect.ismethod(handler):
        raise InvalidHandler(
            f"task {name!r} has process=True, so its handler must be a function at the top level "
            f"of a module, which another process can import"
        )
