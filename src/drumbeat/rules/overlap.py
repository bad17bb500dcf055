"""Overlap: which ticks fire while the job of an earlier one is unfinished.

A schedule that does not allow overlap keeps a line: one job at work and, at most, one behind it.
All that is known of the line is its last job, the *previous* one. If that one waits, the line is
taken to be full, for the job before it may be at work. Ticks that are planned together are seen as
they would be had they come one by one, each job at work as soon as it is there.

That two jobs of such a schedule never run at once does not rest on this. They share a limit of
one, which the store keeps (`rules.firing`); this says only which of them come to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from drumbeat.model.job import Status
from drumbeat.model.plan import SkipReason
from drumbeat.model.policy import Overlap
from drumbeat.model.schedule import Previous
from drumbeat.rules.verdicts import Verdict, open_places, withhold


def overlapped(
    policy: Overlap, previous: Previous | None, verdicts: Sequence[Verdict]
) -> Sequence[Verdict]:
    """The verdicts, with those that the overlap policy withholds."""
    if len(verdicts) == 1 and not unfinished(previous):
        return verdicts  # nothing to overlap with, as nearly always
    places = open_places(verdicts)
    chosen = firing(policy, previous, len(places))
    if len(chosen) == len(places):
        return verdicts
    judged = list(verdicts)
    withhold(places[: chosen.start], SkipReason.OVERLAP, judged)
    withhold(places[chosen.stop :], SkipReason.OVERLAP, judged)
    return judged


def firing(policy: Overlap, previous: Previous | None, count: int) -> range:
    """Which of so many ticks fire, as a range of their places; the others overlap."""
    match policy:
        case Overlap.SKIP:
            return range(min(count, max(0, 1 - length_of_line(previous))))
        case Overlap.ALLOW:
            return range(count)
        case Overlap.QUEUE_ONE:
            return range(min(count, 2 - length_of_line(previous)))
        case Overlap.REPLACE:
            # Each would replace the one before it: only the last would be left.
            return range(max(0, count - 1), count)
        case _ as never:
            assert_never(never)


def length_of_line(previous: Previous | None) -> int:
    """0: nobody is there; 1: one is at work; 2: one waits, perhaps for another."""
    if previous is None or previous.status.final:
        return 0
    return 1 if previous.status is Status.RUNNING else 2


def unfinished(previous: Previous | None) -> bool:
    """Whether there is a previous job and it has not ended."""
    return previous is not None and not previous.status.final
