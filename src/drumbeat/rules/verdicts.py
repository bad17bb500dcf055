"""Verdicts: for each of some ticks, in their order, why it does not fire.

They pass through the gates of planning one after the other; each gate speaks only about the ticks
that are still open.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import TypeAlias

from drumbeat.model.plan import Skip, SkipReason

Verdict: TypeAlias = SkipReason | None
"""None: open, that is nothing speaks against it so far; in the end, it fires."""


def open_places(verdicts: Sequence[Verdict]) -> list[int]:
    """The places of the ticks that are still open."""
    return [place for place, verdict in enumerate(verdicts) if verdict is None]


def withhold(places: Sequence[int], reason: SkipReason, verdicts: list[Verdict]) -> None:
    """Close these places for one reason."""
    for place in places:
        verdicts[place] = reason


def skips(ticks: Sequence[datetime], verdicts: Sequence[Verdict]) -> tuple[Skip, ...]:
    """The ticks that do not fire; those that follow each other for one reason as one run."""
    if verdicts.count(None) == len(verdicts):
        return ()  # as nearly always
    runs: list[Skip] = []
    place = 0
    for reason, run in groupby(verdicts):
        count = len(list(run))
        if reason is not None:
            runs.append(Skip(ticks[place], ticks[place + count - 1], count, reason))
        place += count
    return tuple(runs)
