"""Checks worlds in which each node has its own store and ticks are taken by the shared cursor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from simulation.checkers.violation import Violation
from simulation.history import History

WATCHED = timedelta(seconds=30)
LATE = timedelta(seconds=5)
EVERY = {"often": timedelta(seconds=3), "single": timedelta(seconds=5)}


def taken_once(history: History) -> Iterator[Violation]:
    """S1: over all instances together, each tick is fired at most once."""
    for name, fires in history.dump.fires.items():
        by: dict[datetime, list[str]] = defaultdict(list)
        for process, tick, _ in fires:
            by[tick].append(process)
        for tick, processes in by.items():
            if len(processes) > 1:
                text = f"{name} at {tick} was fired by {' and by '.join(processes)}"
                yield Violation("S1", history.ended_at, text)


def taken_at_all(history: History) -> Iterator[Violation]:
    """L3: in the last half minute, some instance fires every tick."""
    end = history.wall(history.ended_at)
    for name, every in EVERY.items():
        ticks = sorted({tick for _, tick, _ in history.dump.fires.get(name, ())})
        watched = [tick for tick in ticks if end - WATCHED <= tick]
        if not watched or end - watched[-1] > every + LATE:
            yield Violation("L3", history.ended_at, f"{name} no longer fires: {ticks[-3:]}")
        for before, after in pairwise(watched):
            if after - before > every:
                text = f"no instance fired {name} between {before} and {after}"
                yield Violation("L3", history.ended_at, text)


def nothing_fires_early(history: History) -> Iterator[Violation]:
    """S9: an instance fires nothing before its time, by its own clock."""
    for name, fires in history.dump.fires.items():
        for process, tick, at in fires:
            if at < tick:
                text = f"{process} fired {name} {(tick - at).total_seconds():g} s early"
                yield Violation("S9", history.ended_at, text)
