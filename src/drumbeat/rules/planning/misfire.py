"""Misfire: which ticks fire although no leader handled them in time.

A tick is on time within about the duration of a failover, and ticks that are on time fire. If one
of the due ticks is later, the schedule's misfire policy decides about all of them. The window
applies to every policy: a tick older than the window never fires.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import assert_never

from drumbeat.model.errors import TriggerTooExpensive
from drumbeat.model.schedules.plan import SkipReason
from drumbeat.model.schedules.policy import Misfire
from drumbeat.rules.planning.ticks import DueTicks
from drumbeat.rules.planning.verdicts import Verdict, open_places, skipped

ON_TIME = timedelta(seconds=15)
"""About a failover with the default TTL: the crash of a leader causes no misfire."""


def misfired(due: DueTicks, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    places = open_places(verdicts)
    if not places:
        return verdicts
    window = due.stored.schedule.policies.window
    oldest = due.now - due.ticks[places[0]]
    if oldest <= ON_TIME and oldest <= window:
        return verdicts
    too_old = _older(window, places, due)
    judged = skipped(verdicts, too_old, SkipReason.MISSED_WINDOW)
    in_window = places[len(too_old) :]
    if oldest <= ON_TIME or not in_window:
        return judged
    return skipped(judged, *_by_policy(in_window, due))


def _by_policy(places: Sequence[int], due: DueTicks) -> tuple[Sequence[int], SkipReason]:
    """The places of the ticks that the misfire policy skips, and why."""
    policies = due.stored.schedule.policies
    match policies.misfire:
        case Misfire.SKIP:
            return _older(ON_TIME, places, due), SkipReason.MISSED_WINDOW
        case Misfire.LATEST:
            return _surplus(places, due, 1, SkipReason.COALESCED)
        case Misfire.ALL:
            return _surplus(places, due, policies.cap, SkipReason.CAP)
        case _ as never:
            assert_never(never)


def _older(age: timedelta, places: Sequence[int], due: DueTicks) -> Sequence[int]:
    return places[: sum(due.now - due.ticks[place] > age for place in places)]


def _surplus(
    places: Sequence[int], due: DueTicks, keep: int, reason: SkipReason
) -> tuple[Sequence[int], SkipReason]:
    """The places of ticks to skip if only the latest `keep` of all due ticks may fire.

    Ticks of the next plan are later than these and have priority, so they are counted too. If that
    takes too many steps, all of these are skipped, since the latest one is not known.
    """
    try:
        room = keep - due.more_to_fire(at_most=keep)
    except TriggerTooExpensive:
        return places, SkipReason.TOO_EXPENSIVE
    return places[: max(0, len(places) - room)], reason
