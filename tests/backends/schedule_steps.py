"""Steps: what leaders, people and nodes may ask of a store, about all but the jobs themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hypothesis import strategies as st

from drumbeat.model.errors import StaleEpoch, UnknownSchedule
from drumbeat.model.fleet.lease import SCHEDULER, Epoch
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Change, JobSpec, Settlement, Wanted
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import Edit, Fire, Plan
from drumbeat.model.schedules.policy import Misfire, Overlap, Policies
from drumbeat.model.schedules.schedule import Schedule, StoredSchedule
from drumbeat.model.triggers import cron, every
from drumbeat.ports.store import Store
from drumbeat.rules.planning.plan import plan
from drumbeat.rules.schedules import schedule_edit
from drumbeat.testing.conformance.builders import ANNE, BERT, after, beat, lease

NAMES = ("a", "b", "c")
NODES = (ANNE, BERT)
TRIGGERS = (every(seconds=7), every(seconds=30), cron("* * * * *", tz="Europe/Paris"))


@dataclass(frozen=True)
class Alter:
    """Somebody changes a schedule, by what was read now or a while ago."""

    name: str
    how: str
    trigger: int = 0
    overlap: Overlap = Overlap.ALLOW
    misfire: Misfire = Misfire.LATEST
    most: int | None = None
    stale: bool = False


@dataclass(frozen=True)
class Lead:
    """A leader fires what is due, at the present epoch or at an earlier one."""

    limit: int
    stale_epoch: bool = False
    twice: bool = False
    """Whether it commits the same plans once more."""


@dataclass(frozen=True)
class Claim:
    token: int
    domain: str


@dataclass(frozen=True)
class Backfill:
    name: str
    seconds: Sequence[int]


@dataclass(frozen=True)
class Work:
    """A worker takes what there is, and ends what it holds."""

    node: NodeId
    change: Change


@dataclass(frozen=True)
class Live:
    node: NodeId
    lifetime: int


@dataclass(frozen=True)
class Leave:
    node: NodeId


@dataclass(frozen=True)
class Drain:
    node: NodeId


@dataclass(frozen=True)
class Reap:
    pass


@dataclass(frozen=True)
class Wait:
    seconds: int


@dataclass(frozen=True)
class Prune:
    seconds: int


names, nodes = st.sampled_from(NAMES), st.sampled_from(NODES)
fires = st.builds(
    Lead,
    st.integers(1, 4),
    st.integers(0, 5).map(lambda number: number == 0),
    st.integers(0, 3).map(lambda number: number == 0),
)
changes = st.builds(
    Alter,
    names,
    st.sampled_from(["write", "write", "write", "pause", "resume", "remove", "skip"]),
    st.integers(0, len(TRIGGERS) - 1),
    st.sampled_from(Overlap),
    st.sampled_from(Misfire),
    st.sampled_from([None, None, 3]),
    st.integers(0, 4).map(lambda number: number == 0),
)
steps = st.one_of(
    changes,
    changes,
    fires,
    fires,
    st.builds(Claim, st.integers(1, 6), st.sampled_from(["here", "there"])),
    st.builds(Backfill, names, st.lists(st.integers(-60, 60), min_size=1, max_size=4)),
    st.builds(Work, nodes, st.sampled_from([Change.COMPLETE, Change.RETRY, Change.FAIL])),
    st.builds(Live, nodes, st.integers(1, 20)),
    st.builds(Leave, nodes),
    st.builds(Drain, nodes),
    st.just(Reap()),
    st.builds(Wait, st.integers(1, 40)),
    st.builds(Prune, st.integers(0, 60)),
)


class Driver:
    """Does the same to a store as another driver to another."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seconds = 0
        self._epochs = [0]
        self._read: dict[str, StoredSchedule | None] = {}
        self._held: dict[NodeId, list[Settlement]] = {}

    @property
    def _now(self) -> datetime:
        return after(self._seconds)

    async def do(self, step: object) -> object:
        store = self._store
        match step:
            case Alter():
                return await self._alter(step)
            case Lead():
                return await self._lead(step)
            case Claim():
                return await self._claim(step)
            case Backfill():
                return await self._backfill(step)
            case Work():
                return await self._work(step)
            case Wait():
                self._seconds += step.seconds
                return await store.jobs.promote(100, self._now)
            case Prune():
                age = timedelta(seconds=step.seconds)
                return [
                    await store.retention.prune_ticks(age, 100, self._now),
                    await store.retention.prune_nodes(age, 100, self._now),
                    await store.retention.prune_jobs(age, 100, self._now),
                ]
            case _:
                return await self._node(step)

    async def _alter(self, step: Alter) -> object:
        (stored,) = (await self._store.schedules.get([step.name], self._now)).schedules
        if step.stale:
            stored = self._read.get(step.name, stored)
        else:
            self._read[step.name] = stored
        edit = self._edit(step, stored)
        if edit is None:
            return None
        return list(await self._store.schedules.put([edit, edit], self._now))

    def _edit(self, step: Alter, stored: StoredSchedule | None) -> Edit | None:
        if step.how == "write":
            spec = JobSpec("send", queue="x")
            policies = Policies(overlap=step.overlap, misfire=step.misfire, max_runs=step.most)
            schedule = Schedule(step.name, TRIGGERS[step.trigger], spec, policies)
            return schedule_edit.replace(stored, schedule, self._now)
        if stored is None:
            return None
        match step.how:
            case "pause":
                return schedule_edit.pause(stored, "enough", self._now)
            case "resume":
                return schedule_edit.resume(stored, self._now)
            case "skip":
                tick = stored.next_tick
                usable = tick is not None and tick > self._now
                return schedule_edit.skip_tick(stored, tick, self._now) if tick and usable else None
            case _:
                return schedule_edit.remove(stored, self._now)

    async def _lead(self, step: Lead) -> object:
        due = await self._store.schedules.due(step.limit, self._now)
        plans: list[Plan] = [plan(each, self._now) for each in due.schedules]
        number = self._epochs[0] if step.stale_epoch else self._epochs[-1]
        said: list[object] = [due]
        for _ in range(1 + step.twice):
            try:
                epoch = Epoch(SCHEDULER, number)
                said.append(list(await self._store.schedules.commit(plans, epoch, self._now)))
            except StaleEpoch as stale:
                said.append(str(stale))
        return said

    async def _claim(self, step: Claim) -> object:
        claimed = await self._store.fence.claim(lease(step.token, step.domain))
        if isinstance(claimed, Epoch):
            self._epochs.append(claimed.number)
        return claimed

    async def _backfill(self, step: Backfill) -> object:
        fired = [
            Fire(tick, JobSpec("send", queue="x", schedule=step.name, tick_at=tick))
            for tick in (after(seconds) for seconds in step.seconds)
        ]
        try:
            return list(await self._store.schedules.backfill(step.name, fired, self._now))
        except UnknownSchedule as unknown:
            return str(unknown)

    async def _work(self, step: Work) -> object:
        held = self._held.pop(step.node, [])
        wanted = Wanted(("x",), frozenset({"send"}), 3)
        taken = await self._store.jobs.take(wanted, step.node, held, self._now)
        self._held[step.node] = [
            Settlement(each.hold, step.change, timedelta(seconds=3)) for each in taken.attempts
        ]
        return taken

    async def _node(self, step: object) -> object:
        match step:
            case Live():
                holds = [each.hold for each in self._held.get(step.node, [])]
                return await self._store.nodes.beat(
                    beat(step.node, holds, float(step.lifetime)), self._now
                )
            case Leave():
                await self._store.nodes.leave(step.node)
                return None
            case Drain():
                return list(await self._store.nodes.request_drain([step.node]))
            case Reap():
                lost = await self._store.jobs.lost(100, self._now)
                return sorted(lost, key=lambda each: each.job_id), await self._reap()
            case _:
                raise AssertionError(step)

    async def _reap(self) -> list[object]:
        """What every node holds is to be taken from it, whether or not it is dead."""
        told: list[object] = []
        for node in NODES:
            held = sorted(await self._store.jobs.held(node), key=lambda each: each.job_id)
            again = [Settlement(each.hold, Change.GIVE_BACK) for each in held]
            told += await self._store.jobs.reap(again, node, self._now)
        return told

    async def look(self) -> object:
        """All that there is to see."""
        schedules = self._store.schedules
        return [
            (await schedules.list(PageRequest())).items,
            *[(await schedules.ticks(name, PageRequest())).items for name in NAMES],
            await self._store.fence.read(SCHEDULER),
            list(await self._store.nodes.list(self._now)),
            await self._store.jobs.counts(),
        ]
