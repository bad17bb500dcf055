"""Task definitions: a registered callable, its options, and how its arguments travel."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import UnionType
from typing import Any, Union, get_args, get_origin

from drumbeat.engine.tasks.codec import Codec, hints_of
from drumbeat.engine.tasks.context import Context
from drumbeat.engine.tasks.hooks import Hook
from drumbeat.engine.tasks.limits import RateLimit, SharedLimit, parse_rate
from drumbeat.engine.tasks.options import (
    LONGEST_NAME,
    TaskOptions,
    as_templates,
    expiry,
    length,
    optional_length,
    refuse_task_options,
    seconds,
)
from drumbeat.engine.tasks.template import is_template, template
from drumbeat.model.errors import InvalidArguments, InvalidHandler, InvalidInput, InvalidOption
from drumbeat.model.fast_construction import fast_replace
from drumbeat.model.jobs.job import JobSpec, Limit, OnConflict, Rate
from drumbeat.model.jobs.retry import RetryCondition, check_storable

BUILT_IN = "drumbeat."
"""What the names of built-in tasks begin with, and no others."""
changed = fast_replace(JobSpec)
Handler = Callable[..., Any]
MADE_OF_ARGUMENTS = ("limits", "rate", "dedupe_key", "dedupe_scope")
"""The fields of a job that templates make."""


class Place(StrEnum):
    """Where a handler runs."""

    LOOP = "loop"
    THREAD = "thread"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class TaskDefinition:
    """A task: its name, its handler, its options, and how its arguments travel."""

    name: str
    handler: Handler
    place: Place
    options: TaskOptions
    codec: Codec
    takes_context: bool
    before: tuple[Hook, ...] = ()
    """Called before each run of the handler, which they may skip."""
    spec: JobSpec = field(init=False)
    """What every job of the task has in common."""
    _has_templates: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_has_templates", bool(self.options.templates))
        self.check_templates(self.options)
        object.__setattr__(self, "spec", self._spec(self.options, None))

    @property
    def heartbeat(self) -> float | None:
        """Seconds without a heartbeat after which the handler counts as hung; None: no limit."""
        return seconds("heartbeat", self.options.heartbeat)

    def under(self, defaults: TaskOptions) -> TaskDefinition:
        """The same task in an app with these defaults."""
        return replace(self, options=self.options.over(defaults))

    def job(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        options: TaskOptions | None = None,
    ) -> JobSpec:
        """The job for a call; refuses arguments that the handler would not take."""
        payload = self.codec.encode(args, kwargs)
        if options is None and not self._has_templates:
            return changed(self.spec, arguments=payload)
        return self._of_payload(payload, options or self.options)

    def job_for(
        self, call: Sequence[Any] | Mapping[str, Any], options: TaskOptions | None = None
    ) -> JobSpec:
        """The job for arguments in order, or by name."""
        if isinstance(call, Mapping):
            return self.job((), call, options)
        if isinstance(call, str | bytes) or not isinstance(call, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance] - unchecked callers exist
            raise InvalidArguments(
                f"{call!r} is no call of task {self.name!r}: give a tuple of arguments, such as "
                f"(1,), or a mapping by name, or task.job(1)"
            )
        return self.job(tuple(call), {}, options)

    def with_arguments(
        self, spec: JobSpec, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> JobSpec:
        """The same job with other arguments, and with what templates of the task make of them."""
        fresh = self.job(args, kwargs)
        made: Sequence[str] = MADE_OF_ARGUMENTS if self._has_templates else ()
        if spec.task == self.name:
            made = self._made_by_task(spec, made)
        return replace(
            spec, arguments=fresh.arguments, **{name: getattr(fresh, name) for name in made}
        )

    def for_schedule(
        self, changes: Mapping[str, Any], base: TaskOptions | None = None
    ) -> TaskDefinition:
        """The same task with other options, which jobs of a schedule have.

        `base` are those that `task.options()` chose; None: the task's own.
        """
        base = base or self.options
        refuse_task_options(changes)
        for name in ("delay", "run_at"):
            if name in changes or getattr(base, name) != getattr(self.options, name):
                raise InvalidOption(
                    f"{name} is not for schedules: their triggers say when jobs run"
                )
        chosen = base.but(changes)
        if "retry" in changes:
            check_storable(chosen.retry)
        return replace(self, options=chosen)

    def call_options(self, base: TaskOptions, changes: Mapping[str, Any]) -> TaskOptions:
        """The options of a call. Text that names none of the parameters stands for itself."""
        chosen = base.but(as_templates(changes, self.codec.single))
        self.check_templates(chosen)
        if chosen.retry != self.options.retry:
            check_storable(chosen.retry)
        return chosen

    def check_templates(self, options: TaskOptions) -> None:
        """Refuse templates that cannot be made of the arguments, or would show a secret one."""
        for name, text in options.templates.items():
            try:
                arguments = template(text).arguments
            except InvalidOption as error:
                raise InvalidOption(f"{name} of task {self.name!r}: {error}") from None
            if unknown := arguments - self.codec.single:
                raise InvalidOption(
                    f"{name} {text!r} of task {self.name!r} names {min(unknown)!r}, which the task "
                    f"does not take; it takes {', '.join(sorted(self.codec.single)) or 'nothing'} "
                    f"(write {{{{ and }}}} for braces)"
                )
            if secret := arguments.intersection(self.options.secret):
                raise InvalidOption(
                    f"{name} {text!r} of task {self.name!r} would show the secret argument "
                    f"{min(secret)!r}; make it of others"
                )

    def _of_payload(self, payload: bytes, options: TaskOptions) -> JobSpec:
        named = self.codec.by_name(payload) if options.templates else {}
        return replace(self._spec(options, named), arguments=payload)

    def _made_by_task(self, spec: JobSpec, names: Sequence[str]) -> Sequence[str]:
        """Those of the fields that the task's own templates made, and not other options."""
        try:
            made = self._of_payload(spec.arguments, self.options)
        except InvalidInput:  # the arguments are those of an earlier version of the handler
            return names
        return [name for name in names if getattr(made, name) == getattr(spec, name)]

    def _spec(self, options: TaskOptions, arguments: Mapping[str, Any] | None) -> JobSpec:
        return JobSpec(
            task=self.name,
            queue=options.queue,
            priority=options.priority,
            run_at=options.run_at,
            delay=length("delay", options.delay),
            retry=options.retry.stored,
            timeout=seconds("timeout", options.timeout),
            dedupe_key=_name(options.dedupe_key, arguments),
            dedupe_for=length("dedupe_for", options.dedupe_for),
            dedupe_scope=_name(options.dedupe_scope, arguments),
            limits=self._limits(options, arguments),
            rate=self._rate(options, arguments),
            tags=options.tags,
            expires=expiry(options.expires),
            retention=optional_length("retention", options.retention),
        )

    def _limits(
        self, options: TaskOptions, arguments: Mapping[str, Any] | None
    ) -> tuple[Limit, ...]:
        limits: list[Limit] = []
        on_conflict = options.on_conflict or OnConflict.WAIT
        if options.concurrency is not None:
            limits.append(Limit(f"task:{self.name}", options.concurrency, on_conflict))
        key = _name(options.key, arguments)
        if key is not None:
            limits.append(Limit(f"key:{self.name}:{key}", options.key_concurrency, on_conflict))
        exclusive = _name(options.exclusive, arguments)
        if exclusive is not None:
            on_conflict = options.on_conflict or OnConflict.CANCEL
            limits.append(Limit(f"exclusive:{exclusive}", 1, on_conflict))
        limits += [limit for each in _shared(options) if (limit := each.job_limit)]
        return tuple(limits)

    def _rate(self, options: TaskOptions, arguments: Mapping[str, Any] | None) -> Rate | None:
        """The rate of a job, of which stores keep one."""
        rates = [rate for each in _shared(options) if (rate := each.job_rate)]
        own = options.rate_limit
        limit = own if isinstance(own, RateLimit) or own is None else RateLimit(own)
        if limit is not None and limit.key is None:
            rates.append(parse_rate(f"task:{self.name}", limit.rate))
        elif limit is not None and (key := _name(limit.key, arguments)) is not None:
            rates.append(parse_rate(f"key:{self.name}:{key}", limit.rate))
        if len(rates) > 1:
            names = ", ".join(rate.key for rate in rates)
            raise InvalidOption(
                f"task {self.name!r} has several rates ({names}), and a job can have one: "
                f"keep the rate of one of them, and concurrency for the others"
            )
        return rates[0] if rates else None


def _shared(options: TaskOptions) -> Iterator[SharedLimit]:
    for each in options.limits:
        if not isinstance(each, SharedLimit):
            raise InvalidOption(f"limits names {each!r}, which belongs to @app.task")
        yield each


def _name(text: str | None, arguments: Mapping[str, Any] | None) -> str | None:
    """The name that a text or a template stands for; None: it is missing, or they are."""
    if text is None or not is_template(text):
        return text
    return None if arguments is None else template(text).render(arguments)


UNIONS = (Union, UnionType)


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
    parameters = _parameters(named, handler)
    takes_context = _takes_context(named, parameters, hints)
    if process:
        _check_importable(named, handler)
        _check_sendable(named, options.retry.condition)
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


def _parameters(name: str, handler: Handler) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(handler).parameters.values())
    except ValueError as error:
        raise InvalidHandler(f"task {name!r} cannot be {handler!r}: {error}") from None


def _takes_context(
    name: str, parameters: tuple[inspect.Parameter, ...], hints: Mapping[str, Any]
) -> bool:
    for place, parameter in enumerate(parameters):
        last = place > 0 or parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if last and _is_context(hints.get(parameter.name)):
            raise InvalidHandler(
                f"task {name!r} takes its Context as {parameter.name!r}: make that its first "
                f"parameter, or call current() in the handler"
            )
    if not parameters:
        return False
    first = parameters[0].name
    return _is_context(hints.get(first)) or (first == "ctx" and first not in hints)


def _is_context(hint: object) -> bool:
    """Whether it is `Context`, or `Context | None`."""
    return hint is Context or (get_origin(hint) in UNIONS and Context in get_args(hint))


def _check_importable(name: str, handler: Handler) -> None:
    if "<" in getattr(handler, "__qualname__", "<") or inspect.ismethod(handler):
        raise InvalidHandler(
            f"task {name!r} has process=True, so its handler must be a function at the top level "
            f"of a module, which another process can import"
        )


def _check_sendable(name: str, condition: RetryCondition | None) -> None:
    try:
        pickle.dumps(condition)
    except Exception as error:  # noqa: BLE001 - pickling raises errors of many types
        raise InvalidHandler(
            f"task {name!r} has process=True, so the exceptions and the function of its retry must "
            f"be at the top level of a module, which another process can import: {error}"
        ) from None
