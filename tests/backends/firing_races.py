"""Schedules that people change while they fire: one of the two comes first, never half of each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random  # noqa: TID251 - seeded, so that a run can be repeated

from drumbeat.model.jobs.job import JobFilter
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.schedules.plan import Committed, Edit, Outcome, Plan, SkipReason, Written
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.triggers import every
from drumbeat.ports.store import Store
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.schedules import schedule_edit
from drumbeat.testing.conformance.builders import NOON, after, lead, let_others_run, schedule

NOW = after(1)
PASSES = 20
MOMENTS = ("first", "meanwhile", "meanwhile", "late")
"""When a person changes a schedule: before the leader looks, while it decides and writes, or with
what was read before that and written after it."""


def paused(stored: StoredSchedule) -> Edit | None:
    return schedule_edit.pause(stored, "enough", NOW)


def replaced(stored: StoredSchedule) -> Edit | None:
    other = Schedule(stored.name, every(minutes=7), stored.schedule.job)
    return schedule_edit.replace(stored, other, NOW)


def removed(stored: StoredSchedule) -> Edit | None:
    return schedule_edit.remove(stored, NOW)


CHANGES: Sequence[Callable[[StoredSchedule], Edit | None]] = (paused, replaced, removed)


@dataclass
class Races:
    """A leader fires many schedules while somebody changes each of them."""

    leader: Store
    editor: Store
    names: Sequence[str]
    random: Random
    token: int = 1
    wait: Callable[[], Awaitable[None]] = let_others_run
    """Lets others go first, now and then."""
    edits: dict[str, Edit] = field(default_factory=dict[str, Edit])
    fired: Counter[str] = field(default_factory=Counter[str])
    orders: Counter[str] = field(default_factory=Counter[str])
    _edited: asyncio.Event = field(default_factory=asyncio.Event)
    _read: asyncio.Event = field(default_factory=asyncio.Event)
    _passed: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """All of them at once, and then a look at what became of each."""
        made = [Edit(None, schedule(name)) for name in self.names]
        verdicts = await self.leader.schedules.put(made, NOON)
        assert all(isinstance(verdict, Written) for verdict in verdicts)
        moments = [self.random.choice(MOMENTS) for _ in self.names]
        if "first" not in moments:
            self._edited.set()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._fire())
            for name, moment in zip(self.names, moments, strict=True):
                group.create_task(self._change(name, moment))
        await self._fire_what_is_left()
        for name in self.names:
            await self._check(name)

    async def _fire(self) -> None:
        self._epoch = await lead(self.leader, self.token)
        await self._edited.wait()
        await self._pass()
        self._passed.set()

    async def _pass(self) -> bool:
        """Read what is due, decide, write: as the leader does. True: something was due."""
        due = await self.leader.schedules.due(len(self.names), NOW)
        self._read.set()
        await self._hesitate()
        plans: list[Plan] = [plan(each, NOW) for each in due.schedules]
        verdicts = await self.leader.schedules.commit(plans, self._epoch, NOW)
        for each, verdict in zip(plans, verdicts, strict=True):
            if isinstance(verdict, Committed):
                self.fired[each.name] += len(verdict.jobs)
        return bool(plans)

    async def _fire_what_is_left(self) -> None:
        for _ in range(PASSES):
            if not await self._pass():
                return
        raise AssertionError("something stays due")

    async def _change(self, name: str, moment: str) -> None:
        change = self.random.choice(CHANGES)
        if moment == "meanwhile":
            await self._read.wait()
        await self._hesitate()
        for _ in range(PASSES):
            (stored,) = (await self.editor.schedules.get([name], NOW)).schedules
            assert stored is not None
            if moment == "late":
                await self._passed.wait()
            await self._hesitate()
            edit = change(stored)
            assert edit is not None
            (verdict,) = await self.editor.schedules.put([edit], NOW)
            if isinstance(verdict, Written):
                self.edits[name] = edit
                self._edited.set()
                return
            self.orders["tried again"] += 1
        raise AssertionError(f"{name} kept changing")

    async def _hesitate(self) -> None:
        for _ in range(self.random.randrange(4)):
            await self.wait()

    async def _check(self, name: str) -> None:
        """It fired once if it fired before the change, and else never."""
        before = self.edits[name].before
        assert before is not None
        came_first = before.cursor >= NOON
        assert self.fired[name] == came_first, name
        rows = (await self.leader.schedules.ticks(name, PageRequest())).items
        of_noon = [row for row in rows if row.tick_at == NOON]
        fired = [row for row in of_noon if row.outcome is Outcome.FIRED]
        assert len(fired) == came_first, rows
        assert len(of_noon) <= 1, "it fired or it was skipped, and not both"
        if not came_first:
            assert {row.reason for row in of_noon} <= {*SkipReason}
        page = PageRequest(LARGEST_PAGE)
        jobs = (await self.leader.jobs.list(JobFilter(schedule=name), page)).items
        assert [job.id for job in jobs] == [row.job_id for row in fired]
        self.orders["fired first" if came_first else "changed first"] += 1
