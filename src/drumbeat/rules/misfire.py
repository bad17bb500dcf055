"""Misfire: what becomes of ticks that nobody took up in time.

A tick is on time for as long as a failover takes, and ticks that are on time fire. Once one of
the due ticks is later than that, the schedule has missed something, and its policy decides about
all of them. The window binds every policy: a tick older than it never fires.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import assert_never

from drumbeat.model.errors import TriggerTooExpensive
from drumbeat.model.plan import SkipReason
from drumbeat.model.policy import Misfire
from drumbeat.rules.ticks import DueTicks
from drumbeat.rules.verdicts import Verdict, open_places, withhold

ON_TIME = timedelta(seconds=15)
"""About a failover at the default TTL: the crash of a leader does not make a misfire."""


def misfired(due: DueTicks, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """The verdicts on the due ticks, with those that lateness and the misfire policy withhold."""
    places = open_places(verdicts)
    if not places:
        return verdicts
    window = due.stored.schedule.policies.window
    oldest = due.now - due.ticks[places[0]]
    if oldest <= ON_TIME and oldest <= window:
        return verdicts
    judged = list(verdicts)
    in_window = _withhold_older(window, places, due, judged)
    if oldest > ON_TIME:
        _apply_policy(in_window, due, judged)
    return judged


def _apply_policy(places: Sequence[int], due: DueTicks, judged: list[Verdict]) -> None:
    policies = due.stored.schedule.policies
    match policies.misfire:
        case Misfire.SKIP:
            _withhold_older(ON_TIME, places, due, judged)
        case Misfire.LATEST:
            withhold(*_surplus(places, due, 1, SkipReason.COALESCED), judged)
        case Misfire.ALL:
            withhold(*_surplus(places, due, policies.cap, SkipReason.CAP), judged)
        case _ as never:
            assert_never(never)


def _withhold_older(
    age: timedelta, places: Sequence[int], due: DueTicks, judged: list[Verdict]
) -> Sequence[int]:
    """Withhold the ticks that are older than that, and return the places of the others."""
    older = sum(due.now - due.ticks[place] > age for place in places)
    withhold(places[:older], SkipReason.MISSED_WINDOW, judged)
    return places[older:]


def _surplus(
    places: Sequence[int], due: DueTicks, keep: int, reason: SkipReason
) -> tuple[Sequence[int], SkipReason]:
    """The places of ticks that are too many, if only the latest `keep` of all due ones may fire.

    Ticks that wait for the next plan are later than these and go first, so they are counted in. If
    that takes too many steps, all of these are too many: nobody can tell which is the latest.
    """
    if not places:
        return places, reason
    try:
        room = keep - due.more_to_fire(at_most=keep)
    except TriggerTooExpensive:
        return places, SkipReason.TOO_EXPENSIVE
    return places[: max(0, len(places) - room)], reason
