"""Measures the next tick of a cron expression, beside cronsim in the same run.

`walk` steps from tick to tick over ten years; `random` starts at random instants of them. cronsim
is an iterator: its walk is `next()`, and each random start needs a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from time import perf_counter_ns
from zoneinfo import ZoneInfo

from cronsim import CronSim

from drumbeat.model.triggers import cron

TITLE = "The next tick of a cron expression, beside cronsim"
START = datetime(2026, 1, 1, tzinfo=UTC)
END = START + timedelta(days=3650)
STEPS = 10_000
PEER_STEPS = 2_000
REPEATS = 3
EXPRESSIONS = ("*/5 * * * *", "30 2 * * *", "0 9 * * 1-5", "0 0 1 * *", "*/10 * * * * *")
ZONES = ("UTC", "Europe/Paris")


def run(*, quick: bool) -> dict[str, object]:
    """Nanoseconds per next tick for each expression and zone, ours and cronsim's, and the ratio."""
    random = Random(1)
    starts = [START + timedelta(seconds=random.randrange(10 * 365 * 86_400)) for _ in range(STEPS)]
    compared = {
        f"{expression} ({tz})": _compared(expression, tz, starts)
        for expression in (EXPRESSIONS[:3] if quick else EXPRESSIONS)
        for tz in ZONES
    }
    ratios = [row[name] for row in compared.values() for name in ("walk_ratio", "random_ratio")]
    return {**compared, "least_ratio": min(ratios), "target_ratio": 10.0}


def _compared(expression: str, tz: str, starts: list[datetime]) -> dict[str, float]:
    trigger = cron(expression, tz=tz)
    zone = UTC if tz == "UTC" else ZoneInfo(tz)

    def walk() -> None:
        instant = START
        for _ in range(STEPS):
            tick = trigger.next_after(instant)
            assert tick is not None
            instant = tick if tick < END else START

    def jump() -> None:
        for start in starts:
            trigger.next_after(start)

    def peer_walk() -> None:
        ticks = CronSim(expression, START.astimezone(zone))
        for _ in range(PEER_STEPS):
            next(ticks)

    def peer_jump() -> None:
        for start in starts[:PEER_STEPS]:
            next(CronSim(expression, start.astimezone(zone)))

    ours, peer = _best(walk, STEPS), _best(peer_walk, PEER_STEPS)
    ours_random, peer_random = _best(jump, STEPS), _best(peer_jump, PEER_STEPS)
    return {
        "walk_ns": ours,
        "cronsim_walk_ns": peer,
        "walk_ratio": round(peer / ours, 1),
        "random_ns": ours_random,
        "cronsim_random_ns": peer_random,
        "random_ratio": round(peer_random / ours_random, 1),
    }


def _best(work: Callable[[], None], steps: int) -> int:
    """The best of some repeats, in nanoseconds per step: the least disturbed by other work."""

    def once() -> int:
        begun = perf_counter_ns()
        work()
        return (perf_counter_ns() - begun) // steps

    return min(once() for _ in range(REPEATS))
