"""Logs: events as lines, one each, with facts by name.

Some sentences are part of what users may rely on, since they grep for them: "Became the leader",
"Lost leadership", "Registering scheduled task", "Scheduler started successfully", "Leader executing
scheduled task", "Skipping task execution - not the leader", "Task completed successfully".
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from drumbeat.model.ending import Raised, TimedOut
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import (
    AttemptCompleted,
    AttemptEnded,
    AttemptLost,
    AttemptOverran,
    AttemptStarted,
    AttemptSuperseded,
    ClockSkewed,
    CoordinatorAnswered,
    CoordinatorFailed,
    ElectionOff,
    Event,
    FleetJoined,
    JobExcluded,
    LabelShared,
    LeaderForeign,
    LeadershipGained,
    LeadershipLost,
    ListenerFailed,
    LockFailed,
    NodeDraining,
    NodeStarted,
    NodeStopped,
    PlanFailed,
    ResultDropped,
    ScheduleChanged,
    ScheduleChangeWaits,
    ScheduleDeclared,
    ScheduleDrifted,
    SchedulesUnknown,
    ServiceFailed,
    SettingUnused,
    StoreAnswered,
    StoreAwaited,
    StoreFailed,
    TaskUnknown,
    TickFired,
    TickPassed,
    TickRaced,
    TicksDropped,
    TickSkipped,
)
from drumbeat.model.job import Attempt, Change
from drumbeat.model.node import Role

E = TypeVar("E", bound=Event)

LOGGER = logging.getLogger("drumbeat")
FREQUENT = frozenset({AttemptStarted, AttemptCompleted, TickFired})
"""Events of each job and tick: not even made while nobody reads lines of their level."""

REMINDER = 64
"""Failures in a row from which on an outage is warned of again, each time their number doubles."""


def _informed() -> bool:
    return LOGGER.isEnabledFor(logging.INFO)


class Subscribe(Protocol):
    """How to be told of events of a kind."""

    def __call__(
        self, kind: type[E], listener: Callable[[E], None], when: Callable[[], bool] | None
    ) -> object:
        """Call the listener for each; `when` says whether it cares at the moment."""
        ...


def log_events(subscribe: Subscribe, instance_id: str) -> None:
    """Write a line for each event that somebody may want to read."""
    lines = _Lines(instance_id)
    for kind, line in lines.by_kind().items():
        subscribe(kind, line, _informed if kind in FREQUENT else None)


class _Lines:
    """One method per kind of event: its level, its sentence, its facts."""

    def __init__(self, instance_id: str) -> None:
        self._instance_id = instance_id

    def by_kind(self) -> Mapping[type[Event], Callable[[Any], None]]:
        return {
            NodeStarted: self._started,
            NodeDraining: lambda e: self._write(logging.INFO, "Draining", reason=e.reason),
            NodeStopped: lambda _: self._write(logging.INFO, "Stopped"),
            ServiceFailed: self._service_failed,
            ListenerFailed: lambda e: self._write(
                logging.ERROR, "A listener failed", event=type(e.event).__name__, error=e.error
            ),
            ScheduleDeclared: lambda e: self._write(
                logging.INFO, "Registering scheduled task", task=e.task, schedule=e.schedule
            ),
            ScheduleDrifted: lambda e: self._write(
                logging.WARNING,
                "A schedule differs from the code, because a person edited it",
                schedule=e.schedule,
            ),
            ScheduleChangeWaits: lambda e: self._write(
                logging.INFO,
                "A changed schedule keeps its old definition until its due ticks are handled",
                task=e.task,
                schedule=e.schedule,
            ),
            TicksDropped: lambda e: self._write(
                logging.WARNING,
                "A change of a schedule dropped ticks that were due; backfill them if they matter",
                schedule=e.schedule,
                dropped=e.count,
                first=e.tick_at.isoformat(),
                last=e.through.isoformat(),
            ),
            SchedulesUnknown: self._schedules_unknown,
            ScheduleChanged: lambda e: self._write(
                logging.INFO, f"Schedule changed: {e.change}", schedule=e.schedule, reason=e.reason
            ),
            PlanFailed: lambda e: self._write(
                logging.ERROR, "A schedule could not be planned", schedule=e.schedule, error=e.error
            ),
            LeadershipGained: lambda e: self._write(
                logging.INFO, "Became the leader", election=e.election, epoch=e.epoch
            ),
            LeadershipLost: lambda e: self._write(
                logging.INFO if e.graceful else logging.WARNING,
                "Lost leadership",
                election=e.election,
                epoch=e.epoch,
                reason=e.reason,
            ),
            StoreAwaited: self._store_awaited,
            StoreFailed: self._store_failed,
            StoreAnswered: lambda e: self._write(
                logging.INFO,
                "The store answers again",
                since=e.since.isoformat(),
                failures=e.failures,
            ),
            FleetJoined: lambda e: self._write(
                logging.INFO,
                "Joining the fleet",
                namespace=e.namespace,
                store=e.store,
                coordinator=e.coordinator,
            ),
            LeaderForeign: self._leader_foreign,
            ElectionOff: self._election_off,
            SettingUnused: lambda e: self._write(logging.WARNING, e.why),
            CoordinatorFailed: self._coordinator_failed,
            CoordinatorAnswered: lambda e: self._write(
                logging.DEBUG if e.asked == "store" else logging.INFO,
                f"The {e.asked} answers again",
                election=e.election,
                since=e.since.isoformat(),
                failures=e.failures,
            ),
            LabelShared: lambda e: self._write(
                logging.WARNING,
                "Another live node has the same label; give each its own instance_id",
                node=e.node,
                other=e.other,
            ),
            ClockSkewed: lambda e: self._write(
                logging.ERROR,
                "This node's clock is too far from the store's to lead",
                skew_seconds=e.skew.total_seconds(),
            ),
            TickFired: self._tick_fired,
            TickSkipped: self._tick_skipped,
            TickPassed: self._tick_passed,
            TickRaced: lambda e: self._write(
                logging.DEBUG, "A schedule changed while it was planned", schedule=e.schedule
            ),
            AttemptStarted: self._attempt_started,
            AttemptCompleted: self._attempt_completed,
            AttemptEnded: self._attempt_ended,
            AttemptSuperseded: lambda e: self._write(
                logging.WARNING,
                "A late ending was refused: the job had been given to another",
                job_id=e.hold.job_id,
                fence=e.hold.fence,
            ),
            AttemptLost: lambda e: self._write(
                logging.WARNING,
                "A node died with a job in hand",
                task=e.attempt.spec.task,
                job_id=e.attempt.job_id,
                node=e.attempt.node,
                status=e.status,
            ),
            AttemptOverran: lambda e: self._write(
                logging.WARNING,
                "A thread goes on although its attempt is over",
                task=e.attempt.spec.task,
                job_id=e.attempt.job_id,
            ),
            ResultDropped: lambda e: self._write(
                logging.WARNING,
                "A result was not stored",
                task=e.attempt.spec.task,
                job_id=e.attempt.job_id,
                why=e.why,
            ),
            JobExcluded: self._job_excluded,
            TaskUnknown: lambda e: self._write(
                logging.WARNING,
                "Jobs of a task that is unknown here wait for a node that knows it",
                task=e.task,
            ),
            LockFailed: lambda e: self._write(
                logging.WARNING, "A lock could not be taken or kept", lock=e.name, error=e.error
            ),
        }

    def _started(self, event: NodeStarted) -> None:
        who = "Scheduler" if Role.SCHEDULER in event.roles else "Node"
        self._write(logging.INFO, f"{who} started successfully", roles=",".join(event.roles))

    def _schedules_unknown(self, event: SchedulesUnknown) -> None:
        if not event.count:
            self._write(logging.INFO, "Every schedule from code has a task that is known here")
            return
        self._write(
            logging.WARNING,
            "Schedules from code have tasks that are unknown here, as after a rollback; remove "
            "them, or run the code that declares them",
            count=event.count,
            schedules=", ".join(event.schedules),
        )

    def _service_failed(self, event: ServiceFailed) -> None:
        # An outage of a backend has lines of its own, for all services together.
        no_answer = isinstance(event.error, Unavailable | TimeoutError)
        self._write(
            logging.DEBUG if no_answer and event.backend is not None else logging.ERROR,
            "A service failed and goes on after a pause",
            service=event.service,
            failures=event.failures,
            error=repr(event.error),
        )

    def _leader_foreign(self, event: LeaderForeign) -> None:
        self._write(
            logging.WARNING,
            "The leader does not know schedules of this instance, which do not run meanwhile: "
            "if it is another app, set namespace= for each app"
            if event.schedules
            else "The leader is no node of this store, whose ticks do not fire meanwhile: "
            "if it is another app, set namespace= for each app",
            leader=event.leader,
            schedules=", ".join(event.schedules),
        )

    def _election_off(self, event: ElectionOff) -> None:
        self._write(
            logging.WARNING,
            "Leader election is off: every instance runs every task"
            if event.runs_everywhere
            else "Leader election is off: every instance tries to lead, and on the shared store "
            "each tick still runs once",
            locks="this process only" if event.local_locks else "the whole fleet",
        )

    def _store_awaited(self, event: StoreAwaited) -> None:
        self._write(
            _level_of_failure(event.failures),
            f"Waiting for the store {event.store}",
            failures=event.failures,
            next_try_seconds=round(event.next_try, 1),
            gives_up_after_seconds=round(event.left, 1),
            error=event.error,
        )

    def _store_failed(self, event: StoreFailed) -> None:
        self._write(
            _level_of_outage(event.failures),
            "The store does not answer",
            since=event.since.isoformat(),
            failures=event.failures,
            error=event.error,
        )

    def _coordinator_failed(self, event: CoordinatorFailed) -> None:
        self._write(
            logging.DEBUG if event.asked == "store" else _level_of_outage(event.failures),
            "The elector failed, so this instance does not lead"
            if event.asked == "elector"
            else "The coordinator does not answer",
            election=event.election,
            since=event.since and event.since.isoformat(),
            failures=event.failures,
            error=repr(event.error),
        )

    def _tick_passed(self, event: TickPassed) -> None:
        self._write(
            logging.DEBUG,
            "Skipping task execution - not the leader",
            task=event.task,
            schedule=event.schedule,
            tick_at=event.tick_at.isoformat(),
            count=event.count if event.count > 1 else None,
        )

    def _tick_fired(self, event: TickFired) -> None:
        self._write(
            logging.DEBUG,
            "Tick fired",
            schedule=event.schedule,
            tick_at=event.tick_at.isoformat(),
            job_id=event.job_id,
            epoch=event.epoch,
        )

    def _tick_skipped(self, event: TickSkipped) -> None:
        self._write(
            logging.INFO,
            "Tick skipped",
            schedule=event.schedule,
            tick_at=event.tick_at.isoformat(),
            count=event.count,
            reason=event.reason,
        )

    def _job_excluded(self, event: JobExcluded) -> None:
        spec = event.job.spec
        self._write(
            logging.WARNING,
            "A job was cancelled because another holds its exclusive name",
            exclusive=event.name,
            task=spec.task,
            job_id=event.job.id,
            tick_at=spec.tick_at and spec.tick_at.isoformat(),
        )

    def _attempt_started(self, event: AttemptStarted) -> None:
        if event.attempt.spec.schedule is None:
            return
        leading = event.leading is not None
        sentence = "Leader executing scheduled task" if leading else "Executing scheduled task"
        facts = {"epoch": event.leading} if leading else {}
        self._write(logging.INFO, sentence, **_facts(event.attempt), **facts)

    def _attempt_completed(self, event: AttemptCompleted) -> None:
        level = logging.DEBUG if event.attempt.spec.schedule is None else logging.INFO
        if LOGGER.isEnabledFor(level):
            facts = {**_facts(event.attempt), "seconds": round(event.seconds, 6)}
            self._write(level, "Task completed successfully", **facts)

    def _attempt_ended(self, event: AttemptEnded) -> None:
        change = event.settlement.change
        failed = isinstance(event.ending, Raised | TimedOut)
        self._write(
            logging.ERROR if change is Change.FAIL else logging.WARNING if failed else logging.INFO,
            f"Task did not complete: {change}",
            **_facts(event.attempt),
            attempt=event.attempt.number,
            error=event.settlement.error,
        )

    def _write(self, level: int, sentence: str, **facts: object) -> None:
        if LOGGER.isEnabledFor(level):
            told = {"instance_id": self._instance_id} | {
                name: value for name, value in facts.items() if value not in (None, "")
            }
            LOGGER.log(level, "%s", sentence, extra={"facts": told})


def _level_of_failure(failures: int) -> int:
    """Warn at the 1st, 2nd, 4th, 8th failure in a row, so that a long outage makes few lines."""
    return logging.WARNING if failures & (failures - 1) == 0 else logging.DEBUG


def _level_of_outage(failures: int) -> int:
    """Warn when an outage begins, and seldom again while it lasts."""
    return logging.DEBUG if 1 < failures < REMINDER else _level_of_failure(failures)


def _facts(attempt: Attempt) -> dict[str, object]:
    facts: dict[str, object] = {"task": attempt.spec.task, "job_id": attempt.job_id}
    if attempt.spec.tick_at is not None:
        facts["tick_at"] = attempt.spec.tick_at.isoformat()
    return facts
