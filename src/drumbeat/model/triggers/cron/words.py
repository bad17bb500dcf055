"""Describes cron expressions in English.

The phrase has up to four parts: the times, the days, the months, and (added by the caller) the
zone. Few fixed times are spelled out (`At 09:00 and 17:00`); patterns are named by their steps.
"""

from __future__ import annotations

from itertools import pairwise, product

from drumbeat.model.text import MONTHS, capitalised, each, listed, ordinal
from drumbeat.model.time.weekday import Weekday
from drumbeat.model.triggers.cron.syntax import (
    CronField,
    CronFields,
    FromEnd,
    Item,
    NearestWeekday,
    NthWeekday,
    Span,
)

SPELLED_OUT = 6  # more times of day than this are described by their pattern
_BY_NAME = "spread by the schedule's name"
_WEEKDAYS = tuple(day.label for day in Weekday)
_DAY_WORDS = ("on ", "every ", *_WEEKDAYS)
_POSITIONS = ("first", "second", "third", "fourth", "fifth")


def describe_cron(fields: CronFields, *, drawn: bool) -> str:
    """The description without the zone. `drawn`: `H` and `~` have been drawn by a name."""
    open_time = not drawn and any(field.spread for field in fields[:3])
    open_days = not drawn and any(field.spread for field in fields[3:])
    times = f"at times {_BY_NAME}" if open_time else _times(fields)
    days = f"on days {_BY_NAME}" if open_days else _days(fields)
    if times.startswith("at ") and "every" not in times and not days.startswith(_DAY_WORDS):
        days = f"every day {days}"
    joint = ", " if days.startswith(_WEEKDAYS) else " "
    return capitalised(f"{times}{joint}{days}".strip())


# Times of day


def _times(fields: CronFields) -> str:
    second, minute, hour = fields.second, fields.minute, fields.hour
    moments = [*product(_in_order(hour), minute.values, second.values)]
    if len(moments) <= SPELLED_OUT:
        return f"at {listed([_moment(*moment) for moment in moments])}"
    if second.values == (0,):
        return _minutes(minute, hour)
    seconds = _pattern(second)
    if minute.full and hour.full:
        return f"{seconds} of every minute" if _is_bounded(seconds) else seconds
    within = _minutes(minute, hour)
    return f"{seconds} of {within}" if within.startswith("every minute") else f"{seconds}, {within}"


def _minutes(minute: CronField, hour: CronField) -> str:
    if minute.values == (0,):
        return "every hour" if hour.full else _whole_hours(hour)
    pattern = _pattern(minute)
    of = " of every hour" if _is_bounded(pattern) else ""
    if hour.full:
        return f"{pattern}{of}"
    span, step, values = _single_span(hour), _step(hour), hour.values
    if len(values) == 1:
        return _within_hour(minute, values[0])
    if span is not None and span.step == 1:
        first = _moment(span.values[0], minute.values[0])
        last = _moment(span.values[-1], minute.values[-1])
        return f"{pattern}{of} from {first} to {last}"
    if step is not None and len(values) > 2:
        whole_day = values[0] == 0 and step * len(values) == 24
        limits = "" if whole_day else f" from {_moment(values[0], 0)} to {_moment(values[-1], 0)}"
        return f"{pattern} of every {ordinal(step)} hour{limits}"
    return f"{pattern} in the hours of {listed([_moment(value, 0) for value in values])}"


def _within_hour(minute: CronField, hour: int) -> str:
    """Many minutes of a single hour."""
    step = _step(minute)
    if step is None:
        return f"{_pattern(minute)} in the hour of {_moment(hour, 0)}"
    first, last = _moment(hour, minute.values[0]), _moment(hour, minute.values[-1])
    return f"{each(step, 'minute')} from {first} to {last}"


def _whole_hours(hour: CronField) -> str:
    """The hours of an expression that fires once at the beginning of each."""
    step, span = _step(hour), _single_span(hour)
    if span is not None and span.step == 1:
        return f"every hour from {_moment(span.values[0], 0)} to {_moment(span.values[-1], 0)}"
    first, last = hour.values[0], hour.values[-1]
    if step is None:
        return f"at {listed([_moment(value, 0) for value in hour.values])}"
    if step * len(hour.values) == 24 and first == 0:
        return each(step, "hour")
    return f"{each(step, 'hour')} from {_moment(first, 0)} to {_moment(last, 0)}"


def _is_bounded(pattern: str) -> bool:
    """Whether a pattern of seconds or minutes lists values, so that it needs "of ..."."""
    return pattern.startswith("at ") or " to " in pattern


def _in_order(field: CronField) -> tuple[int, ...]:
    """The values; those of a single range in its order, so that 22-2 begins at 22."""
    span = _single_span(field)
    return field.values if span is None else span.values


def _pattern(field: CronField) -> str:
    """The values of a field of seconds or minutes, as steps where they are steps."""
    unit, values = field.unit.name, field.values
    if field.full:
        return f"every {unit}"
    step = _step(field)
    if step is not None and step * len(values) == 60:
        return each(step, unit) + (f" from {unit} {values[0]}" if values[0] else "")
    if step is not None and len(values) > SPELLED_OUT // 2:
        return f"{_nth(step, unit)} from {values[0]} to {values[-1]}"
    plural = unit if len(values) == 1 else f"{unit}s"
    return f"at {plural} {listed([str(value) for value in values])}"


def _nth(step: int, unit: str) -> str:
    return f"every {unit}" if step == 1 else f"every {ordinal(step)} {unit}"


def _step(field: CronField) -> int | None:
    """The distance between neighbouring values, if it is always the same."""
    distances = {after - before for before, after in pairwise(field.values)}
    return distances.pop() if len(distances) == 1 else None


def _single_span(field: CronField) -> Span | None:
    (item, *others) = field.items
    return item if isinstance(item, Span) and not others else None


def _moment(hour: int, minute: int, second: int = 0) -> str:
    return f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")


# Days


def _days(fields: CronFields) -> str:
    day, weekday = fields.day, fields.weekday
    if len(day.items) == len(day.values) == len(fields.month.values) == 1 and weekday.full:
        return f"on {day.values[0]} {MONTHS[fields.month.values[0] - 1]}"
    parts: list[str] = []
    if day.full and day.starred:
        parts += [_weekdays(weekday)] if not weekday.full else []
    elif weekday.full and weekday.starred:
        parts.append(f"on {_month_days(day)}")
    elif day.starred or weekday.starred:
        parts.append(f"on {_month_days(day)} if it is {_weekday_names(weekday, 'or')}")
    else:
        parts.append(f"on {_month_days(day)} or {_weekdays(weekday)}")
    if not fields.month.full:
        parts.append(_months(fields.month))
    return " ".join(parts)


def _weekdays(weekday: CronField) -> str:
    span = _single_span(weekday)
    if span is not None and len(span.values) > 2 and span.step == 1:
        return _weekday_names(weekday, "and")
    special = any(isinstance(item, NthWeekday) for item in weekday.items)
    return f"{'on' if special else 'every'} {_weekday_names(weekday, 'and')}"


def _weekday_names(weekday: CronField, last: str) -> str:
    words: list[str] = []
    for item in weekday.items:
        match item:
            case Span() as span if span.step == 1 and len(span.values) > 2:
                words.append(f"{_name(span.values[0])} to {_name(span.values[-1])}")
            case Span() as span:
                words += [_name(value) for value in span.values]
            case NthWeekday(number, nth):
                position = "last" if nth is None else _POSITIONS[nth - 1]
                words.append(f"the {position} {_name(number)} of the month")
            case _:
                pass
    return listed(list(dict.fromkeys(words)), last)


def _name(weekday: int) -> str:
    return Weekday(weekday).label


def _month_days(day: CronField) -> str:
    spans = [item for item in day.items if isinstance(item, Span)]
    words = [_month_day(item) for item in day.items if not isinstance(item, Span)]
    if day.starred:
        step = spans[0].step
        words.insert(0, "any day" if step == 1 else f"every {ordinal(step)} day from day 1")
    elif spans:
        plural = "day" if len(day.values) == 1 else "days"
        words.insert(0, f"{plural} {listed([word for span in spans for word in _numbers(span)])}")
    return f"{listed(words)} of the month"


def _numbers(span: Span) -> list[str]:
    values = span.values
    if span.step == 1 and len(values) > 2:
        return [f"{values[0]} to {values[-1]}"]
    return [str(value) for value in values]


def _month_day(item: Item) -> str:
    match item:
        case FromEnd(back):
            return "the last day" if back == 0 else f"the {ordinal(back + 1)} last day"
        case NearestWeekday(None, 0):
            return "the last weekday (Monday to Friday)"
        case NearestWeekday(None, back):
            return f"the weekday (Monday to Friday) nearest to the {ordinal(back + 1)} last day"
        case NearestWeekday(number):
            return f"the weekday (Monday to Friday) nearest to day {number}"
        case Span() | NthWeekday():
            raise AssertionError(f"{item} is not a special day of the month")


def _months(month: CronField) -> str:
    span = _single_span(month)
    if span is not None and span.step == 1 and len(span.values) > 2:
        first, last = span.values[0], span.values[-1]
        return f"from {MONTHS[first - 1]} to {MONTHS[last - 1]}"
    return f"in {listed([MONTHS[value - 1] for value in month.values])}"
