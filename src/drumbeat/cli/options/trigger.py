"""The options of a trigger: `--cron "0 2 * * *"`, `--every 30s`, `--daily 09:00` and others."""

from __future__ import annotations

from datetime import UTC
from functools import wraps
from typing import Any

import click

from drumbeat.cli.command import Callback, Part, together
from drumbeat.cli.options.option import text
from drumbeat.cli.session.session import Session
from drumbeat.model.errors import InvalidInput
from drumbeat.model.triggers import cron, daily, every, monthly, once, weekly
from drumbeat.model.triggers.trigger import Trigger

DAYS_AND_TIMES = "DAYS TIMES"
OPTIONS = {
    "cron": text("--cron", "EXPRESSION", 'Such as "0 2 * * *" or "@hourly".'),
    "every": text("--every", "DURATION", "At a fixed interval, such as 15m."),
    "daily": text("--daily", "TIMES", "At times of the day: 09:00,17:30."),
    "weekly": text("--weekly", DAYS_AND_TIMES, 'On days of the week: "mon,fri 09:00".'),
    "monthly": text("--monthly", DAYS_AND_TIMES, 'On days of the month: "1,-1 00:00".'),
    "once": text("--once", "TIME", "Once, at a time such as +2h."),
}


def trigger_options(*, required: bool) -> Part:
    """The options of a trigger; the command receives the `trigger`, or None if there are none."""
    tz = text("--tz", "ZONE", "The time zone of its times. [default: the app's, or UTC]")
    return together(*OPTIONS.values(), tz, lambda function: _reading(function, required=required))


def _reading(function: Callback, *, required: bool) -> Callback:
    @wraps(function)
    def called(*, tz: str | None, **given: Any) -> Any:
        session = click.get_current_context().ensure_object(Session)
        chosen = {name: value for name in OPTIONS if (value := given.pop(name)) is not None}
        if not required and not chosen and tz is None:
            return function(trigger=None, **given)
        return function(trigger=_trigger(session, chosen, tz), **given)

    return called


def _trigger(session: Session, chosen: dict[str, str], tz: str | None) -> Trigger:
    if len(chosen) != 1:
        names = ", ".join(f"--{name}" for name in OPTIONS)
        raise InvalidInput(f"say when it runs, by exactly one of {names}")
    ((kind, text),) = chosen.items()
    match kind:
        case "cron":
            return cron(text, tz=tz)
        case "every":
            return every(text)
        case "daily":
            return daily(_list(text), tz=tz)
        case "weekly":
            days, times = _days(kind, text)
            return weekly(days, times, tz=tz)
        case "monthly":
            days, times = _days(kind, text)
            return monthly([_day(day) for day in days], times, tz=tz)
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
