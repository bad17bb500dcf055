"""Where the clock jumps twice within days, wall times are still found at their true instants."""

from __future__ import annotations

import pytest

from drumbeat.model.time.zones import DAY, DstGap, DstRepeat, Zone

HOUR = 3600
FIRST = 100 * DAY + 36 * HOUR
"""The first of two jumps of a whole day, as when an island changes sides of the date line."""


class JumpsTwice(Zone):
    """A zone whose clock goes forward by a day, and back again some hours later."""

    __slots__ = ("apart",)

    def __init__(self, apart: int) -> None:
        super().__init__("Pacific/Apia")
        self.apart = apart

    def offset(self, instant: int) -> int:
        return DAY if FIRST <= instant < FIRST + self.apart else 0


@pytest.mark.parametrize("apart", [36 * HOUR, 48 * HOUR, 60 * HOUR])
def test_wall_times_between_two_jumps_are_found_at_their_true_instants(apart: int) -> None:
    zone = JumpsTwice(apart)
    passes: dict[int, list[int]] = {}
    for instant in range(FIRST - 4 * DAY, FIRST + 8 * DAY, HOUR):
        passes.setdefault(instant + zone.offset(instant), []).append(instant)
    walls = range(FIRST - 2 * DAY, FIRST + 6 * DAY, HOUR)
    found = {wall: zone.instants(wall, DstGap.SKIP, DstRepeat.BOTH) for wall in walls}
    assert found == {wall: tuple(passes.get(wall, ())) for wall in walls}
