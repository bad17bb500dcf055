"""Moments: instants as people write and read them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from drumbeat.model.errors import InvalidInput
from drumbeat.model.time.duration import parse_duration
from drumbeat.model.time.instant import in_range

FORMS = "'2026-07-01 02:00', '2026-07-01T02:00:00Z', 'now', '-2h' or '+30m'"
NOT_YET = "-"


@dataclass(frozen=True, slots=True)
class Moments:
    """Reads and shows instants relative to now, in one zone."""

    now: datetime
    zone: tzinfo | None = None
    """None: the zone that this machine is set to."""

    def local(self, instant: datetime) -> datetime:
        try:
            return instant.astimezone(self.zone)
        except OverflowError:  # the first or last day that a datetime can hold
            return instant

    @property
    def zone_name(self) -> str:
        """What the zone is called now, such as `CEST`."""
        return self.local(self.now).strftime("%Z")

    def show(self, instant: datetime | None) -> str:
        """`2026-07-01 02:00:00`."""
        return NOT_YET if instant is None else f"{self.local(instant):%Y-%m-%d %H:%M:%S}"

    def both(self, instant: datetime | None) -> str:
        """`2026-07-01 02:00:00 (in 3h)`."""
        return NOT_YET if instant is None else f"{self.show(instant)} ({self.distance(instant)})"

    def stamped(self, instant: datetime | None) -> str:
        """`2026-07-01 02:00:00 CEST (in 3h)`: where no title names the zone."""
        return NOT_YET if instant is None else f"{self.named(instant)} ({self.distance(instant)})"

    def named(self, instant: datetime | None) -> str:
        """`2026-07-01 02:00:00 CEST`."""
        return NOT_YET if instant is None else f"{self.show(instant)} {self.local(instant):%Z}"

    def distance(self, instant: datetime | None) -> str:
        """`in 3h`, `2m ago`, `now`."""
        if instant is None:
            return NOT_YET
        away = instant - self.now
        if abs(away) < timedelta(seconds=1):
            return "now"
        return f"in {short(away)}" if away > timedelta(0) else f"{short(-away)} ago"

    def read(self, text: str) -> datetime:
        """The instant that a person wrote; without a zone it is in the zone of this object."""
        word = text.strip()
        if word.lower() == "now":
            return self.now
        try:
            is_away = word[:1] in ("+", "-") and not word[1:5].isdecimal()
            instant = self._away(word) if is_away else datetime.fromisoformat(word)
        except ValueError:
            raise InvalidInput(f"{text!r} is not a time; allowed: {FORMS}") from None
        except OverflowError:
            raise InvalidInput(f"{text!r} is too far from now; use a shorter length") from None
        return in_range(word, instant if instant.tzinfo is not None else self._placed(instant))

    def _placed(self, wall: datetime) -> datetime:
        if self.zone is not None:
            return wall.replace(tzinfo=self.zone)
        try:
            return wall.astimezone()
        except (OverflowError, ValueError):  # the first or last day that a datetime can hold
            return wall.replace(tzinfo=UTC)

    def _away(self, word: str) -> datetime:
        length = parse_duration(word[1:])
        return self.now + length if word[0] == "+" else self.now - length


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def short(length: timedelta) -> str:
    """A length of time at a glance: its two largest units, `2d 3h`, `4m 10s`, `12ms`."""
    seconds = length.total_seconds()
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    rest, parts = int(seconds), list[str]()
    for size, unit in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
        elif parts:
            break
        if len(parts) == 2:
            break
    return " ".join(parts)
