"""What the page in the admin shows, and what its buttons do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drumbeat.django.project_app import app_of_the_project
from drumbeat.fleet.actor import Actor
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.jobs.job import JobFilter, Status
from drumbeat.model.page import PageRequest
from drumbeat.wire.job import JobView
from drumbeat.wire.node import NodeView
from drumbeat.wire.queue import QueueView
from drumbeat.wire.schedule import ScheduleView

SHOWN = 100
"""Schedules and jobs on the page."""
REASON = "by the admin of the site"


@dataclass(frozen=True, slots=True)
class FleetOverview:
    """The nodes, the queues, the schedules and the latest jobs."""

    nodes: Sequence[NodeView]
    queues: Sequence[QueueView]
    schedules: Sequence[ScheduleView]
    jobs: Sequence[JobView]

    @classmethod
    def read(cls, status: Status | None) -> FleetOverview:
        """The fleet as it is now, with the latest jobs of a status, or of all."""
        app = app_of_the_project()
        return app.wait_for(lambda: _overview(app.fleet, status))


async def _overview(fleet: Fleet, status: Status | None) -> FleetOverview:
    page = PageRequest(SHOWN)
    wanted = JobFilter(statuses=frozenset((status,))) if status else JobFilter()
    schedules, jobs = await fleet.schedules.list(page), await fleet.jobs.list(wanted, page)
    return FleetOverview(
        await fleet.nodes.list(), await fleet.queues.list(), schedules.items, jobs.items
    )


async def _pause(fleet: Fleet, schedule: str) -> object:
    return await fleet.schedules.pause(schedule, REASON)


async def _resume(fleet: Fleet, schedule: str) -> object:
    return await fleet.schedules.resume(schedule, REASON)


async def _trigger(fleet: Fleet, schedule: str) -> object:
    return await fleet.schedules.trigger(schedule)


async def _cancel(fleet: Fleet, job: str) -> object:
    return await fleet.jobs.cancel(int(job), REASON)


async def _retry(fleet: Fleet, job: str) -> object:
    return await fleet.jobs.retry(int(job), REASON)


ACTIONS: Mapping[str, Any] = {
    "pause": _pause,
    "resume": _resume,
    "trigger": _trigger,
    "cancel": _cancel,
    "retry": _retry,
}
"""The buttons of the page."""


def act(action: str, target: str, user: str) -> None:
    """Do what a button says; the audit log names the user."""
    app = app_of_the_project()
    fleet = app.fleet.acting_as(Actor(f"{user} (admin)"))
    app.wait_for(lambda: ACTIONS[action](fleet, target))
