"""Verdicts: for each due tick, in order, the reason why it is skipped, or None.

The checks of a plan are applied one after the other; each decides only about the open ticks.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import TypeAlias

from drumbeat.model.schedules.plan import Skip, SkipReason

Verdict: TypeAlias = SkipReason | None
"""None: open, that is, no check has skipped the tick so far; in the end it fires."""


def open_places(verdicts: Sequence[Verdict]) -> list[int]:
    return [place for place, verdict in enumerate(verdicts) if verdict is None]


def skipped(
    verdicts: Sequence[Verdict], places: Sequence[int], reason: SkipReason
) -> Sequence[Verdict]:
    """The verdicts with the ticks at these places skipped."""
    if not places:
        return verdicts
    changed = list(verdicts)
    for place in places:
        changed[place] = reason
    return changed


def skips(ticks: Sequence[datetime], verdicts: Sequence[Verdict]) -> tuple[Skip, ...]:
    """The skipped ticks; consecutive ones with the same reason become one `Skip`."""
    if verdicts.count(None) == len(verdicts):
        return ()  # the usual case
    runs: list[Skip] = []
    place = 0
    for reason, run in groupby(verdicts):
        count = len(list(run))
        if reason is not None:
            runs.append(Skip(ticks[place], ticks[place + count - 1], count, reason))
        place += count
    return tuple(runs)
