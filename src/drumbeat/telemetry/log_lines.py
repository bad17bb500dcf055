"""Log lines: the level, the sentence and the facts of each event.

Some sentences are part of what users may rely on, since they grep for them: "Became the leader",
"Lost leadership", "Registering scheduled task", "Scheduler started successfully", "Leader executing
scheduled task", "Skipping task execution - not the leader", "Task completed successfully".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from logging import DEBUG, ERROR, INFO, WARNING, getLogger
from operator import attrgetter
from typing import Any, TypeAlias

from drumbeat.model import events
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import Event
from drumbeat.model.fleet.node import Role
from drumbeat.model.jobs.ending import Raised, TimedOut
from drumbeat.model.jobs.job import Attempt, Change, Status
from drumbeat.model.log_message import summary
from drumbeat.model.text import last_line

Line: TypeAlias = tuple[int, str, Mapping[str, object]]
"""A level, a sentence, and facts by name. Facts that are None or empty are not shown."""
LineOf: TypeAlias = Callable[[Any], Line | None]

LOGGER = getLogger("drumbeat")
FREQUENT = frozenset({events.AttemptStarted, events.AttemptCompleted, events.TickFired})
"""Events of each job and tick: not created while their log level is off."""

REMINDER = 64
"""From this many failures on, warn again whenever their number doubles."""
OF_ATTEMPT = (
    "task=attempt.spec.task job_id=attempt.job_id attempt=attempt.number "
    "schedule=attempt.spec.schedule"
)

ENDED: Mapping[Change, tuple[int, str]] = {
    Change.FAIL: (ERROR, "Task failed"),
    Change.RETRY: (WARNING, "Task failed and will be retried"),
    Change.SNOOZE: (INFO, "Task snoozed"),
    Change.CANCEL: (INFO, "Task cancelled"),
    Change.GIVE_BACK: (INFO, "Task given back"),
}
"""How an attempt can end that did not complete its job."""

TABLE: Mapping[type[Event], tuple[int, str, str]] = {
    events.NodeDraining: (INFO, "Draining", "reason"),
    events.NodeStopped: (INFO, "Stopped", ""),
    events.ScheduleDeclared: (INFO, "Registering scheduled task", "task schedule"),
    events.ScheduleDrifted: (
        WARNING,
        "A schedule differs from the code, because a person edited it",
        "schedule",
    ),
    events.ScheduleChangeWaits: (
        INFO,
        "A changed schedule keeps its old definition until its due ticks are handled",
        "task schedule",
    ),
    events.TicksDropped: (
        WARNING,
        "A change of a schedule dropped ticks that were due; backfill them if they matter",
        "schedule dropped=count first=tick_at last=through",
    ),
    events.PlanFailed: (ERROR, "A schedule could not be planned", "schedule error"),
    events.LeadershipGained: (INFO, "Became the leader", "election epoch"),
    events.LeaderEvicted: (
        WARNING,
        "The leader's process has ended; its lease was ended so that another can lead",
        "election leader",
    ),
    events.NodeVanished: (
        WARNING,
        "The process of a node has ended; its jobs go to others",
        "node",
    ),
    events.WitnessTaken: (DEBUG, "Took the witness of this node", "number"),
    events.StoreAnswered: (INFO, "The store answers again", "since failures"),
    events.TicketsRepublished: (DEBUG, "Tickets were published again", "count"),
    events.QueueAnswered: (INFO, "The queue answers again", "since failures"),
    events.TasksMissing: (
        WARNING,
        "This app has no tasks: import the modules that declare them before it starts",
        "",
    ),
    events.LabelShared: (
        WARNING,
        "Another live node has the same label; give each its own instance_id",
        "node other",
    ),
    events.TickFired: (DEBUG, "Tick fired", "schedule tick_at job_id epoch"),
    events.TickSkipped: (INFO, "Tick skipped", "schedule tick_at count reason"),
    events.TickRaced: (DEBUG, "A schedule changed while it was planned", "schedule"),
    events.AttemptSuperseded: (
        WARNING,
        "A late settlement was refused: another node has the job",
        "job_id=hold.job_id fence=hold.fence",
    ),
    events.AttemptOverran: (
        WARNING,
        "A thread still runs although its attempt is over",
        OF_ATTEMPT,
    ),
    events.ResultDropped: (WARNING, "A result was not stored", f"{OF_ATTEMPT} why"),
    events.JobExcluded: (
        WARNING,
        "A job was cancelled because its limit or its exclusive name is taken",
        "exclusive=name task=job.spec.task job_id=job.id tick_at=job.spec.tick_at",
    ),
    events.JobSkipped: (
        DEBUG,
        "A job was skipped because its limit or its exclusive name is taken",
        "exclusive=name task=job.spec.task job_id=job.id tick_at=job.spec.tick_at",
    ),
    events.JobExpired: (
        WARNING,
        "A job expired before it could start",
        "task=job.spec.task job_id=job.id schedule=job.spec.schedule expires_at=job.expires_at",
    ),
    events.TaskUnknown: (
        WARNING,
        "Jobs wait because their task is unknown on this node",
        "task",
    ),
    events.HookFailed: (ERROR, "A hook failed", "hook error"),
    events.LockFailed: (WARNING, "A lock could not be taken or kept", "lock=name error"),
}
"""Events that always have the same level and sentence. Facts are attributes of the event."""


def reader(level: int, sentence: str, names: str) -> LineOf:
    """Reads the facts of a line from attributes of the event."""
    pairs = (each.partition("=") for each in names.split())
    facts = [(name, attrgetter(path or name)) for name, _, path in pairs]

    def line_of(event: Event) -> Line | None:
        if not LOGGER.isEnabledFor(level):
            return None
        return level, sentence, {name: read(event) for name, read in facts}

    return line_of


def _joined(event: events.FleetJoined) -> Line:
    facts = {
        "namespace": event.namespace,
        "store": event.store,
        "coordinator": event.coordinator,
        "queue": event.queue,
        "queues": ",".join(event.queues),
        "tasks": event.tasks,
        "schedules": event.schedules,
    }
    return INFO, "Joining the fleet", facts


def _started(event: events.NodeStarted) -> Line:
    who = "Scheduler" if Role.SCHEDULER in event.roles else "Node"
    return INFO, f"{who} started successfully", {"roles": ",".join(event.roles)}


def _service_failed(event: events.ServiceFailed) -> Line:
    # An outage of a backend has lines of its own, for all services together.
    no_answer = isinstance(event.error, Unavailable | TimeoutError)
    outage = no_answer and event.backend is not None
    level = DEBUG if outage or not _is_power_of_two(event.failures) else ERROR
    facts = {"service": event.service, "failures": event.failures, "error": event.error}
    return level, "A service failed and will retry after a pause", facts


def _listener_failed(event: events.ListenerFailed) -> Line:
    facts = {"event": type(event.event).__name__, "error": event.error}
    return ERROR, "A listener failed", facts


def _schedules_undeclared(event: events.SchedulesUndeclared) -> Line:
    if not event.count:
        return INFO, "Code declares every schedule that it once declared", {}
    sentence = (
        "Code no longer declares schedules that are in the store and still fire; "
        "`drumbeat schedule prune` removes them"
    )
    facts = {"count": event.count, "schedules": ", ".join(event.schedules)}
    return WARNING, sentence, facts


def _schedules_unknown(event: events.SchedulesUnknown) -> Line:
    if not event.count:
        return INFO, "Every schedule from code has a task that is known here", {}
    sentence = (
        "Schedules from code have tasks that are unknown here, as after a rollback; run the "
        "code that declares them, or remove them (`drumbeat schedule prune --unknown-tasks`)"
    )
    facts = {"count": event.count, "schedules": ", ".join(event.schedules)}
    return WARNING, sentence, facts


def _schedule_changed(event: events.ScheduleChanged) -> Line:
    facts = {"schedule": event.schedule, "reason": event.reason}
    return INFO, f"Schedule changed: {event.change}", facts


def _leadership_lost(event: events.LeadershipLost) -> Line:
    facts = {"election": event.election, "epoch": event.epoch, "reason": event.reason}
    return INFO if event.graceful else WARNING, "Lost leadership", facts


def _witness_lost(event: events.WitnessLost) -> Line:
    facts = {"error": event.error}
    if event.held:  # an outage of the store is reported by itself, and so is a lost leadership
        return INFO, "Lost the witness of this node in the store; taking it again", facts
    sentence = "Cannot take a witness in the store: the death of this node will be noticed late"
    return WARNING, sentence, facts


def _leader_foreign(event: events.LeaderForeign) -> Line:
    problem = (
        "The leader does not know some schedules of this instance, so they do not run"
        if event.schedules
        else "The leader is not a node of this store, so its ticks do not fire"
    )
    facts = {"leader": event.leader, "schedules": ", ".join(event.schedules)}
    return WARNING, f"{problem}: if it is another app, set namespace= for each app", facts


def _election_off(event: events.ElectionOff) -> Line:
    effect = (
        "every instance runs every task"
        if event.runs_everywhere
        else "every instance tries to lead, and on the shared store each tick still runs once"
    )
    facts = {"locks": "this process only" if event.local_locks else "the whole fleet"}
    return WARNING, f"Leader election is off: {effect}", facts


def _store_awaited(event: events.StoreAwaited) -> Line:
    facts = {
        "failures": event.failures,
        "next_try_seconds": round(event.next_try, 1),
        "gives_up_after_seconds": round(event.left, 1),
        "error": event.error,
    }
    return _level_of_failure(event.failures), f"Waiting for the store {event.store}", facts


def _store_failed(event: events.StoreFailed) -> Line:
    facts = {"since": event.since, "failures": event.failures, "error": event.error}
    return _level_of_outage(event.failures), "The store does not answer", facts


def _queue_failed(event: events.QueueFailed) -> Line:
    facts = {"since": event.since, "failures": event.failures, "error": event.error}
    sentence = "The queue does not answer; meanwhile the store hints the workers"
    return _level_of_outage(event.failures), sentence, facts


def _coordinator_failed(event: events.CoordinatorFailed) -> Line:
    facts = {
        "election": event.election,
        "since": event.since,
        "failures": event.failures,
        "error": event.error,
    }
    if event.asked == "elector":
        sentence = "The elector failed, so this instance does not lead"
    else:
        sentence = "The coordinator does not answer"
    return DEBUG if event.asked == "store" else _level_of_outage(event.failures), sentence, facts


def _coordinator_answered(event: events.CoordinatorAnswered) -> Line:
    facts = {"election": event.election, "since": event.since, "failures": event.failures}
    level = DEBUG if event.asked == "store" else INFO
    return level, f"The {event.asked} answers again", facts


def _clock_skewed(event: events.ClockSkewed) -> Line:
    facts = {"skew_seconds": event.skew.total_seconds()}
    return ERROR, "This node's clock is too far from the store's to lead", facts


def _tick_passed(event: events.TickPassed) -> Line:
    facts = {"task": event.task, "schedule": event.schedule, "tick_at": event.tick_at}
    count = event.count if event.count > 1 else None
    return DEBUG, "Skipping task execution - not the leader", {**facts, "count": count}


def _attempt_started(event: events.AttemptStarted) -> Line | None:
    if event.attempt.spec.schedule is None:
        return None
    executing = "Executing" if event.leading is None else "Leader executing"
    facts = {**_facts(event.attempt), "epoch": event.leading}
    return INFO, f"{executing} scheduled task", facts


def _attempt_completed(event: events.AttemptCompleted) -> Line | None:
    level = DEBUG if event.attempt.spec.schedule is None else INFO
    if not LOGGER.isEnabledFor(level):
        return None
    facts = {**_facts(event.attempt), "seconds": round(event.seconds, 6)}
    return level, "Task completed successfully", facts


def _attempt_ended(event: events.AttemptEnded) -> Line:
    settlement, exception = event.settlement, event.exception
    level, sentence = ENDED[settlement.change]
    facts = _facts(event.attempt)
    if isinstance(event.ending, Raised | TimedOut):
        facts["error"] = summary(exception) if exception else last_line(settlement.error or "")
    else:
        facts["reason"] = settlement.error
    facts["seconds"] = round(event.seconds, 6)
    if settlement.delay:
        facts["next_try_seconds"] = round(settlement.delay.total_seconds(), 3)
    return level, sentence, facts


def _attempt_lost(event: events.AttemptLost) -> Line:
    level = ERROR if event.status is Status.FAILED else WARNING
    facts = {**_facts(event.attempt), "node": event.attempt.node, "status": event.status}
    return level, "A node died while it ran a job", facts


FUNCTIONS: Mapping[type[Event], LineOf] = {
    events.FleetJoined: _joined,
    events.NodeStarted: _started,
    events.ServiceFailed: _service_failed,
    events.ListenerFailed: _listener_failed,
    events.SchedulesUnknown: _schedules_unknown,
    events.SchedulesUndeclared: _schedules_undeclared,
    events.ScheduleChanged: _schedule_changed,
    events.LeadershipLost: _leadership_lost,
    events.StoreAwaited: _store_awaited,
    events.StoreFailed: _store_failed,
    events.QueueFailed: _queue_failed,
    events.WitnessLost: _witness_lost,
    events.LeaderForeign: _leader_foreign,
    events.ElectionOff: _election_off,
    events.SettingUnused: lambda event: (WARNING, event.why, {}),
    events.CoordinatorFailed: _coordinator_failed,
    events.CoordinatorAnswered: _coordinator_answered,
    events.ClockSkewed: _clock_skewed,
    events.TickPassed: _tick_passed,
    events.AttemptStarted: _attempt_started,
    events.AttemptCompleted: _attempt_completed,
    events.AttemptEnded: _attempt_ended,
    events.AttemptLost: _attempt_lost,
}
"""Events whose level, sentence or facts depend on the event. None: no line."""


def _level_of_failure(failures: int) -> int:
    """Warn at the 1st, 2nd, 4th, 8th failure in a row, so that a long outage makes few lines."""
    return WARNING if _is_power_of_two(failures) else DEBUG


def _is_power_of_two(failures: int) -> bool:
    return failures & (failures - 1) == 0


def _level_of_outage(failures: int) -> int:
    """Warn when an outage begins, and rarely again while it lasts."""
    return DEBUG if 1 < failures < REMINDER else _level_of_failure(failures)


def _facts(attempt: Attempt) -> dict[str, object]:
    spec = attempt.spec
    return {
        "task": spec.task,
        "job_id": attempt.job_id,
        "attempt": attempt.number,
        "schedule": spec.schedule,
        "tick_at": spec.tick_at,
    }
