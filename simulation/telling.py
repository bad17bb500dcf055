"""Telling: describe the node events that are shown in the story."""

from __future__ import annotations

from drumbeat.model.events import (
    AttemptLost,
    AttemptOverran,
    Event,
    LeadershipGained,
    LeadershipLost,
    NodeDraining,
    NodeStarted,
    ScheduleChangeWaits,
    TickPassed,
)

STORY_EVENTS = (
    *(LeadershipGained, LeadershipLost, AttemptLost, AttemptOverran),
    *(NodeStarted, NodeDraining, TickPassed, ScheduleChangeWaits),
)


def described(event: Event) -> str:
    """The event as a few words."""
    match event:
        case LeadershipGained():
            return f"leads as epoch {event.epoch}"
        case LeadershipLost():
            return f"leads no more (epoch {event.epoch}): {event.reason}"
        case AttemptLost():
            return f"takes job {event.attempt.job_id} away from {event.attempt.node}"
        case AttemptOverran():
            return f"a thread goes on with job {event.attempt.job_id}"
        case NodeStarted():
            return "runs"
        case NodeDraining():
            return event.reason
        case TickPassed():
            return f"leaves {event.count} ticks of {event.schedule} to another"
        case ScheduleChangeWaits():
            return f"its change of {event.schedule} waits for ticks that are due"
        case _:
            return repr(event)
