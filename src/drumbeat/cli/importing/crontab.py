"""The lines of a crontab, and the tasks and schedules that they become."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from drumbeat.cli.importing.command_name import command_name
from drumbeat.model.errors import InvalidInput
from drumbeat.model.triggers import cron
from drumbeat.model.triggers.trigger import Trigger

_SETTING = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)")
_NAMED = re.compile(r"(?:name|task)\s*:\s*(.+)", re.IGNORECASE)
_HEADER = re.compile(r"m|min|minute|h|hour|dom|mon|month|dow|user|command|cmd")
"""A word of the comment that names the columns, which most crontabs begin with."""
ZONES = ("CRON_TZ", "TZ")
AT_START = "@reboot"
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Line:
    """A line that became a schedule."""

    number: int
    name: str
    expression: str
    tz: str | None
    command: str
    trigger: Trigger


@dataclass(slots=True)
class Crontab:
    """The content of a crontab."""

    lines: list[Line] = field(default_factory=list[Line])
    refused: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Lines that cannot become a schedule, by number, each with the reason."""
    notes: list[str] = field(default_factory=list[str])
    """Lines that were ignored."""


def read_crontab(text: str, tz: str | None, *, has_user: bool = False) -> Crontab:
    """Read a crontab; `has_user` if each line names a user after its times."""
    found = Crontab()
    names: Counter[str] = Counter()
    zone, comment = tz, ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line:
            comment = ""
        elif line.startswith("#"):
            comment = _comment(line)
        elif setting := _SETTING.fullmatch(line):
            if setting[1] in ZONES:
                zone = setting[2].strip("\"' ")
            else:
                found.notes.append(f"line {number}: {setting[1]} is not taken over")
        else:
            _take(found, names, _Raw(number, line, comment, zone, has_user))
            comment = ""
    return found


@dataclass(frozen=True, slots=True)
class _Raw:
    """A line with the comment, the zone and the form that apply to it."""

    number: int
    text: str
    comment: str
    zone: str | None
    has_user: bool


def _take(found: Crontab, names: Counter[str], raw: _Raw) -> None:
    fields = _field_count(raw.text)
    parts = raw.text.split(None, fields + raw.has_user)
    if len(parts) <= fields + raw.has_user:
        found.refused.append((raw.number, f"{raw.text!r} has no command after its times"))
        return
    expression, command = " ".join(parts[:fields]), parts[-1]
    if expression == AT_START:
        found.refused.append((raw.number, "@reboot has no time; call such a task at the start"))
        return
    try:
        trigger = cron(expression, tz=raw.zone)
    except InvalidInput as error:
        found.refused.append((raw.number, str(error)))
        return
    name = _name(raw.comment) or _name(command_name(command)) or "task"
    names[name] += 1
    if names[name] > 1:
        name = f"{name}-{names[name]}"
    found.lines.append(Line(raw.number, name, expression, raw.zone, command, trigger))


def _field_count(line: str) -> int:
    if line.lower().startswith("@every "):
        return 2
    return 1 if line.startswith("@") else 5


def _comment(line: str) -> str:
    """A comment on the line below it; empty if it only names the columns."""
    comment = line.lstrip("# ")
    words = set(re.findall(r"[a-z]+", comment.lower()))
    names_columns = {"dom", "dow"} <= words and all(map(_HEADER.fullmatch, words))
    return "" if names_columns else comment


def _name(comment: str) -> str:
    named = _NAMED.fullmatch(comment)
    words = re.findall(r"[A-Za-z0-9]+", named[1] if named else comment)
    return "-".join(words).lower()[:LONGEST_NAME].strip("-")
