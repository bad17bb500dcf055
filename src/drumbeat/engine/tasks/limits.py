"""Limits as code declares them: rates, also for each key, and limits that several tasks share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from drumbeat.model.errors import InvalidOption
from drumbeat.model.jobs.job import Limit, OnConflict, Rate
from drumbeat.model.time.duration import parse_duration


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most so many starts in a period, for all jobs of a task or for each key."""

    rate: str
    """Such as "100/m" or "5/10s"."""
    key: str | None = None
    """A template over the arguments, such as "{customer}"; None: one rate for all jobs."""

    def __post_init__(self) -> None:
        parse_rate("", self.rate)
        if self.key is not None and not _is(self.key, str):
            raise InvalidOption(f"the key of a rate must be text, not {self.key!r}")


def rate_limit(rate: str, *, key: str | None = None) -> RateLimit:
    """A rate for each key: `@app.task(rate_limit=rate_limit("10/m", key="{customer}"))`."""
    return RateLimit(rate, key)


@dataclass(frozen=True, slots=True)
class SharedLimit:
    """A limit that several tasks share by its name."""

    name: str
    concurrency: int | None = None
    """How many jobs of all these tasks may run at once, over the whole fleet."""
    rate: str | None = None
    """How many may start in a period, over the whole fleet."""
    on_conflict: OnConflict = OnConflict.WAIT
    """What becomes of a job that finds `concurrency` reached."""

    def __post_init__(self) -> None:
        if not self.name or (self.concurrency is None and self.rate is None):
            raise InvalidOption("a limit needs a name, and concurrency or rate")
        concurrency = self.concurrency
        if concurrency is not None and (not _is(concurrency, int) or concurrency < 1):
            raise InvalidOption(
                f"concurrency of limit {self.name!r} must be a whole number of at least 1, "
                f"not {concurrency!r}"
            )
        object.__setattr__(self, "on_conflict", read_on_conflict(self.on_conflict))
        _ = self.job_rate

    @property
    def job_limit(self) -> Limit | None:
        if self.concurrency is None:
            return None
        return Limit(self._key, self.concurrency, self.on_conflict)

    @property
    def job_rate(self) -> Rate | None:
        return None if self.rate is None else parse_rate(self._key, self.rate)

    @property
    def _key(self) -> str:
        return f"limit:{self.name}"


class SharedLimits:
    """The shared limits of an app, by name."""

    def __init__(self) -> None:
        self._limits: dict[str, SharedLimit] = {}

    def add(self, limit: SharedLimit) -> None:
        """Declare a limit; `InvalidOption` if another one has its name."""
        if self._limits.setdefault(limit.name, limit) != limit:
            raise InvalidOption(f"another limit named {limit.name!r} is declared already")

    def named(self, limits: Iterable[str | SharedLimit]) -> tuple[SharedLimit, ...]:
        """The limits of these names; `InvalidOption` if one is not declared."""
        found: list[SharedLimit] = []
        for each in limits:
            limit = each if isinstance(each, SharedLimit) else self._limits.get(each)
            if limit is None:
                known = ", ".join(sorted(self._limits)) or "none"
                raise InvalidOption(
                    f"limits names {each!r}, which app.limit has not declared before; "
                    f"declared: {known}"
                )
            found.append(limit)
        return tuple(dict.fromkeys(found))


def _is(value: object, kind: type) -> bool:
    """Guards callers that do not use a type checker."""
    return isinstance(value, kind)


def read_on_conflict(given: OnConflict | str) -> OnConflict:
    try:
        return OnConflict(given)
    except ValueError:
        raise InvalidOption(
            f"on_conflict must be 'wait', 'skip' or 'cancel', not {given!r}"
        ) from None


def parse_rate(key: str, text: str) -> Rate:
    """`"100/m"` or `"5/10s"` as a rate."""
    try:
        amount, _, period = text.partition("/")
        period = period.strip()
        per = parse_duration(period if period[:1].isdigit() else f"1{period}")
        return Rate(key, int(amount), per if period else timedelta(0))
    except (ValueError, AttributeError) as error:
        raise InvalidOption(
            f"a rate must look like '100/m' or '5/10s', not {text!r}: {error}"
        ) from None
