"""Time zones: when the wall clock changes, and what that means for a time of day.

Everything is counted in whole seconds since 1970. An *instant* counts them in UTC, a *wall* time
counts them on the clock of the zone: `wall = instant + offset`. A zone's timeline is cut into
*windows*. Most of them are **quiet**: the offset is constant, each wall time happens exactly once,
and plain arithmetic is right. Around each clock change, by its size to both sides, is a
**disturbed** window, where wall times are missing (a gap) or happen twice (a repeat). Windows are
computed once per zone and year and cached.

`zoneinfo` has no list of transitions, so they are searched: the offset is read every two days, and
a change is bisected to its second. No zone has ever changed twice within six days.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from drumbeat.model.errors import InvalidPolicy, NaiveDatetime, UnknownZone
from drumbeat.model.time.instant import EPOCH

DAY = 86_400
HORIZON_YEARS = 50  # 29 February on a given weekday may be 40 years away, around 2100
HORIZON_DAYS = HORIZON_YEARS * 366
# Years 100 to 9900: away from the edges of `datetime`, so that no search can overflow.
FIRST_INSTANT = int(datetime(100, 1, 1, tzinfo=UTC).timestamp())
LAST_INSTANT = int(datetime(9900, 1, 1, tzinfo=UTC).timestamp())
OFFSET_CHANGE_LIMIT = 2 * DAY  # no two offsets of a zone differ by more

_PAGE = 365 * DAY
_PROBE_STEP = 2 * DAY
_MOST_QUIET_DAYS = 10_000  # per zone; beyond that the cache is cleared
_MARGIN = 8 * DAY  # a page reads this far beyond its edges, so neighbours agree on their windows
_FIXED = frozenset({"UTC", "Etc/UTC", "Etc/UCT", "Etc/Zulu", "Etc/GMT", "GMT", "UCT", "Zulu"})

Policy = TypeVar("Policy", bound=StrEnum)


def read_policy(kind: type[Policy], field: str, value: str) -> Policy:
    """The policy of that name; raises `InvalidPolicy`, which lists those that the field takes."""
    try:
        return kind(value)
    except ValueError:
        raise InvalidPolicy(f"{field} must be {' | '.join(kind)}, not {value!r}") from None


class DstGap(StrEnum):
    """What happens to a fixed time of day that the clock skips."""

    RUN_AFTER = "run_after"  # once, at the first instant after the gap: 02:30 -> 03:00
    SKIP = "skip"  # not at all
    SHIFT = "shift"  # moved by the length of the gap: 02:30 -> 03:30

    @classmethod
    def read(cls, value: str) -> DstGap:
        return read_policy(cls, "dst_gap", value)


class DstRepeat(StrEnum):
    """What happens to a fixed time of day that comes twice."""

    FIRST = "first"
    BOTH = "both"
    LAST = "last"

    @classmethod
    def read(cls, value: str) -> DstRepeat:
        return read_policy(cls, "dst_repeat", value)


DstGapName: TypeAlias = DstGap | Literal["run_after", "skip", "shift"]
DstRepeatName: TypeAlias = DstRepeat | Literal["first", "both", "last"]
GapPolicy: TypeAlias = DstGap | str | None
RepeatPolicy: TypeAlias = DstRepeat | str | None
"""A policy, its name, or None to keep the present one."""


class Spell(NamedTuple):
    """A period of constant offset: instants from `start` up to, not including, `end`."""

    start: int
    end: int
    offset: int


class Window(NamedTuple):
    """A part of a zone's timeline, from `start` up to, not including, `end`.

    A quiet window has no spells. A disturbed window has the spells that meet in it, of which the
    first and the last extend beyond it, and covers all instants that its wall times can mean.
    """

    start: int
    end: int
    offset: int
    spells: tuple[Spell, ...] = ()

    @property
    def walls(self) -> tuple[int, int]:
        """The wall times (from, up to) that happen, or are missing, in this window only."""
        if not self.spells:
            return self.start + self.offset, self.end + self.offset
        return self.start + self.spells[0].offset, self.end + self.spells[-1].offset

    def instants(self, wall: int, gap: DstGap, repeat: DstRepeat) -> tuple[int, ...]:
        """The instants that a wall time of this window means under these policies."""
        if not self.spells:
            return (wall - self.offset,)
        passes = tuple(
            wall - spell.offset
            for spell in self.spells
            if spell.start <= wall - spell.offset < spell.end
        )
        if not passes:
            return self._beyond_gap(wall, gap)
        match repeat:
            case DstRepeat.FIRST:
                return passes[:1]
            case DstRepeat.LAST:
                return passes[-1:]
            case DstRepeat.BOTH:
                return passes

    def _beyond_gap(self, wall: int, gap: DstGap) -> tuple[int, ...]:
        if gap is DstGap.SKIP:
            return ()
        for before, after in pairwise(self.spells):
            if before.end + before.offset <= wall < after.start + after.offset:
                return (after.start if gap is DstGap.RUN_AFTER else wall - before.offset,)
        raise AssertionError(f"wall time {wall} neither happens nor is in a gap of {self}")


class Zone:
    """A time zone of the IANA database, by its name. One object per name; see `zone()`."""

    __slots__ = ("__weakref__", "_pages", "info", "name", "quiet_days")

    def __init__(self, name: str) -> None:
        self.name = name
        self.info = _zone_info(name)
        self._pages: dict[int, tuple[Window, ...]] = {}
        self.quiet_days: dict[int, tuple[int, datetime]] = {}
        """Days that are known to be entirely quiet: their offset and their start."""

    def __repr__(self) -> str:
        return f"zone({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return zone, (self.name,)

    def offset(self, instant: int) -> int:
        """How many seconds the wall clock is ahead of UTC at that instant."""
        local = datetime.fromtimestamp(instant, self.info)
        ahead = local.utcoffset() or timedelta(0)
        return ahead.days * DAY + ahead.seconds

    def window(self, instant: int) -> Window:
        """The window that holds the instant."""
        number = instant // _PAGE
        page = self._pages.get(number)
        if page is None:
            # Two threads may both compute a page; they store equal ones.
            page = self._pages[number] = self._page(number)
        for window in page:
            if instant < window.end:
                return window
        raise AssertionError(f"page {number} of {self.name} does not reach {instant}")

    def learn(self, instant: int) -> int:
        """Cache the local day of the instant if it is quiet; return its offset."""
        window = self.window(instant)
        day = (instant + window.offset) // DAY
        start = day * DAY - window.offset
        if not window.spells and window.start <= start and start + DAY <= window.end:
            if len(self.quiet_days) >= _MOST_QUIET_DAYS:
                self.quiet_days = {}
            self.quiet_days[day] = (window.offset, datetime.fromtimestamp(start, UTC))
        return window.offset

    def instants(self, wall: int, gap: DstGap, repeat: DstRepeat) -> tuple[int, ...]:
        """The instants that a wall time means under these policies."""
        window = self.window(wall - DAY)
        while wall >= window.walls[1]:
            window = self.window(window.end)
        return window.instants(wall, gap, repeat)

    def _page(self, number: int) -> tuple[Window, ...]:
        """All windows of a page: quiet ones are cut at its edges, disturbed ones are whole."""
        start, end = number * _PAGE, (number + 1) * _PAGE
        if self.name in _FIXED:
            return (Window(start, end, 0),)
        spells = self._spells(start - _MARGIN, end + _MARGIN)
        windows: list[Window] = []
        position, offset = start, spells[0].offset
        for disturbed in _disturbed(spells):
            if disturbed.end <= start:
                offset = disturbed.spells[-1].offset
                continue
            if disturbed.start >= end:
                break
            if disturbed.start > position:
                windows.append(Window(position, disturbed.start, disturbed.spells[0].offset))
            windows.append(disturbed)
            position, offset = disturbed.end, disturbed.spells[-1].offset
        if position < end:
            windows.append(Window(position, end, offset))
        return tuple(windows)

    def _spells(self, start: int, end: int) -> tuple[Spell, ...]:
        spells: list[Spell] = []
        begun, offset = start, self.offset(start)
        for probe in range(start, end, _PROBE_STEP):
            after = self.offset(probe + _PROBE_STEP)
            if after != offset:
                jump = self._jump(probe, probe + _PROBE_STEP, offset)
                spells.append(Spell(begun, jump, offset))
                begun, offset = jump, after
        return (*spells, Spell(begun, end + _PROBE_STEP, offset))

    def _jump(self, before: int, after: int, offset: int) -> int:
        """The first instant in (before, after] whose offset is another one."""
        while after - before > 1:
            middle = (before + after) // 2
            if self.offset(middle) == offset:
                before = middle
            else:
                after = middle
        return after


def _disturbed(spells: tuple[Spell, ...]) -> list[Window]:
    """The disturbed window around each jump; windows that would touch are one."""
    groups: list[list[Spell]] = []
    reached = 0
    for before, after in pairwise(spells):
        size = abs(after.offset - before.offset)
        if groups and before.end - size <= reached:
            groups[-1].append(after)
        else:
            groups.append([before, after])
        reached = max(reached, before.end + size) if len(groups[-1]) > 2 else before.end + size
    return [_around(group) for group in groups]


def _around(group: list[Spell]) -> Window:
    reach = sum(abs(after.offset - before.offset) for before, after in pairwise(group))
    return Window(
        start=group[0].end - reach,
        end=group[-1].start + reach,
        offset=group[0].offset,
        spells=tuple(group),
    )


@cache
def zone(name: str) -> Zone:
    """The zone of that name, else `UnknownZone`. Bounded by the size of the IANA database."""
    return Zone(name)


def zone_name(value: str | tzinfo) -> str:
    """The checked IANA name of a zone given by its name or as a `ZoneInfo`, else `UnknownZone`."""
    if value is UTC:
        return "UTC"
    name = value if isinstance(value, str) else getattr(value, "key", None)
    if not isinstance(name, str):
        raise UnknownZone(value)
    return zone(name).name


def _zone_info(name: str) -> ZoneInfo:
    if name == "localtime":  # the zone of this machine, which may differ between nodes
        raise UnknownZone(name)
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError):
        raise UnknownZone(name) from None


def whole_seconds(instant: datetime) -> int:
    """The last whole second since 1970 at or before an aware instant."""
    try:
        since = instant - EPOCH
    except TypeError:
        raise NaiveDatetime("instant", instant) from None
    return since.days * DAY + since.seconds
