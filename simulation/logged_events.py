"""The node events that the transcript shows, and their descriptions."""

from __future__ import annotations

from drumbeat.model.events import (
    AttemptLost,
    AttemptOverran,
    Event,
    LeaderEvicted,
    LeadershipGained,
    LeadershipLost,
    NodeDraining,
    NodeStarted,
    NodeVanished,
    ScheduleChangeWaits,
    TickPassed,
    WitnessLost,
)

LOGGED_EVENTS = (
    *(LeadershipGained, LeadershipLost, AttemptLost, AttemptOverran),
    *(NodeStarted, NodeDraining, TickPassed, ScheduleChangeWaits),
    *(LeaderEvicted, NodeVanished, WitnessLost),
)


def description_of(event: Event) -> str:
    match event:
        case LeadershipGained():
            return f"leads as epoch {event.epoch}"
        case LeadershipLost():
            return f"no longer leads (epoch {event.epoch}): {event.reason}"
        case AttemptLost():
            return f"takes job {event.attempt.job_id} from the dead node {event.attempt.node}"
        case AttemptOverran():
            return f"a thread continues job {event.attempt.job_id}"
        case NodeStarted():
            return "started"
        case NodeDraining():
            return event.reason
        case TickPassed():
            return f"leaves {event.count} ticks of {event.schedule} to another"
        case ScheduleChangeWaits():
            return f"its change of {event.schedule} waits for due ticks"
        case LeaderEvicted() | NodeVanished() | WitnessLost():
            return _about_witnesses(event)
        case _:
            return repr(event)


def _about_witnesses(event: LeaderEvicted | NodeVanished | WitnessLost) -> str:
    match event:
        case LeaderEvicted():
            return f"evicts {event.leader}, whose term was {event.token}"
        case NodeVanished():
            return f"finds {event.node} dead"
        case WitnessLost():
            return f"its witness was lost: {event.error}"
