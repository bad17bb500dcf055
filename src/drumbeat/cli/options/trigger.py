"""The options of a trigger: `--cron "0 2 * * *"`, `--every 30s`, `--daily 09:00` and others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from functools import wraps
from typing import Any, TypeVar

import click

from drumbeat.cli.session.session import Session
from drumbeat.model.errors import InvalidInput
from drumbeat.model.triggers import cron, daily, every, monthly, once, weekly
from drumbeat.model.triggers.trigger import Trigger

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = ("cron", "every", "daily", "weekly", "monthly", "once")


def trigger_options(function: F) -> F:
    """Give a command the options of a trigger; it receives the `trigger`."""
    return _trigger_options(function, optional=False)


def optional_trigger_options(function: F) -> F:
    """The same; the `trigger` is None if no option is given."""
    return _trigger_options(function, optional=True)


def _trigger_options(function: F, *, optional: bool) -> F:
    @wraps(function)
    def called(*, tz: str | None, **given: Any) -> Any:
        session = click.get_current_context().ensure_object(Session)
        chosen = {name: text for name in OPTIONS if (text := given.pop(name)) is not None}
        if optional and not chosen and tz is None:
            return function(trigger=None, **given)
        return function(trigger=_trigger(session, chosen, tz), **given)

    decorated: Any = called
    for option in reversed(_declared()):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]  # click returns what it was given


def _declared() -> list[Callable[[Any], Any]]:
    return [
        click.option("--cron", metavar="EXPRESSION", help='Such as "0 2 * * *" or "@hourly".'),
        click.option("--every", metavar="DURATION", help="At a fixed interval, such as 15m."),
        click.option("--daily", metavar="TIMES", help="At times of the day: 09:00,17:30."),
        click.option(
            "--weekly", metavar="DAYS TIMES", help='On days of the week: "mon,fri 09:00".'
        ),
        click.option("--monthly", metavar="DAYS TIMES", help='On days of the month: "1,-1 00:00".'),
        click.option("--once", metavar="TIME", help="Once, at a time such as +2h."),
        click.option("--tz", metavar="ZONE", help="The time zone of its times. [default: UTC]"),
    ]


def _trigger(session: Session, chosen: dict[str, str], tz: str | None) -> Trigger:
    if len(chosen) != 1:
        names = ", ".join(f"--{name}" for name in OPTIONS)
        raise InvalidInput(f"say when it runs, by exactly one of {names}")
    ((kind, text),) = chosen.items()
    zone = tz or "UTC"
    match kind:
        case "cron":
            return cron(text, tz=tz)
        case "every":
            return every(text)
        case "daily":
            return daily(_list(text), tz=zone)
        case "weekly":
            days, times = _days(kind, text)
            return weekly(days, times, tz=zone)
        case "monthly":
            days, times = _days(kind, text)
            return monthly([_day(day) for day in days], times, tz=zone)
        case _:
            return once(session.output.moments.read(text).astimezone(UTC))


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _days(kind: str, text: str) -> tuple[list[str], list[str]]:
    days, _, times = text.strip().partition(" ")
    if not times:
        raise InvalidInput(f"--{kind} needs days and times, such as 'mon,fri 09:00', not {text!r}")
    return _list(days), _list(times)


def _day(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(
            f"a day of the month is a number such as 1 or -1, not {text!r}"
        ) from None
