"""Deaths of real processes at default settings, on every pair of a store and a coordinator.

A failover is the time from `kill -9` of the leader, one of three processes, to the first tick that
another one fires; a pause is the same for SIGSTOP. A restart kills a process that is alone, starts
it again at once, and waits for its first tick. A rescue kills a worker that runs a job, and waits
until the job runs elsewhere. After all rounds the ledger is compared with the ticks that were due
and with the runs of the handlers, and those who were taken for dead with those who were killed.

`python -m bench.deaths PAIR KILLS PAUSES` does many rounds of one pair, such as
`postgres+etcd 1000 1000`.
"""

from __future__ import annotations

import asyncio
import json
import math
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from operator import eq, ne
from pathlib import Path

from bench.death_node import BEAT, EVERY, make_app
from drumbeat import Drumbeat
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.engine.tasks.handle import Task
from drumbeat.model.ids import label_of
from drumbeat.model.page import PageRequest
from drumbeat.model.schedules.plan import TickRecord
from servers import Consul, Etcd, Missing, Postgres, Redis

TITLE = "Deaths of processes, at default settings"
COORDINATORS: dict[str, Callable[[], Redis | Etcd | Consul]] = {
    "redis": Redis.start,
    "etcd": Etcd.start,
    "consul": Consul.start,
}
PAIRS = tuple(
    f"{store}{coordinator}"
    for store in ("sqlite", "postgres")
    for coordinator in ("", "+redis", "+etcd", "+consul")
)
NODES = 3
LOOK_EVERY = 0.02
LONGEST_WAIT = 90.0
BUSY = 600.0
PAUSED = 16.0
"""Seconds after which a paused leader continues at the latest."""
ROLES = ("scheduler", "worker")
clock = SystemClock()


@dataclass(frozen=True, slots=True)
class Sizes:
    """The rounds of each measurement."""

    kills: int = 30
    restarts: int = 10
    rescues: int = 10
    pauses: int = 2


QUICK = Sizes(kills=3, restarts=1, rescues=1, pauses=0)


def run(*, quick: bool) -> dict[str, object]:
    sizes = QUICK if quick else Sizes()
    figures: dict[str, object] = {}
    for pair in PAIRS:
        try:
            figures |= measured(pair, sizes)
        except Missing as missing:
            figures[pair] = f"not measured: {missing}"
    return figures


def measured(pair: str, sizes: Sizes) -> dict[str, object]:
    """The figures of one pair."""
    found: dict[str, object] = {}
    with _fleet(pair) as fleet:
        rounds = asyncio.run(_rounds(fleet, sizes))
    for title, seconds in rounds.seconds.items():
        if seconds:
            found[f"{pair}: {title}, seconds"] = _spread(seconds)
    found[f"{pair}: ticks"] = rounds.accounts
    return found


@dataclass(slots=True)
class Rounds:
    """What was measured."""

    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    accounts: dict[str, int] = field(default_factory=dict[str, int])


class Fleet:
    """The processes of one pair."""

    def __init__(self, store: str, coordinator: str | None, folder: Path) -> None:
        self.folder = folder
        self.namespace = "deaths"
        self._addresses = store, coordinator
        self._document = json.dumps([store, coordinator, self.namespace, str(folder)])
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        self.killed: set[str] = set()
        self._serial = 0

    @property
    def labels(self) -> set[str]:
        """Of the nodes that run."""
        return set(self._nodes)

    def client(self) -> tuple[Drumbeat, Task[[float], None]]:
        return make_app(*self._addresses, self.namespace, "client", self.folder)

    def start(self, roles: Sequence[str] = ROLES) -> str:
        """Start a node, and return its label."""
        self._serial += 1
        label = f"node-{self._serial}"
        command = [sys.executable, "-m", "bench.death_node", self._document, label, *roles]
        self._nodes[label] = subprocess.Popen(command, stdin=subprocess.PIPE)
        return label

    def kill(self, label: str) -> float:
        """Kill a node; the moment of its death, by the wall clock."""
        at = time.time()
        self._nodes[label].kill()
        self.killed.add(label)
        self._nodes.pop(label).communicate()
        return at

    def send(self, label: str, number: signal.Signals) -> float:
        at = time.time()
        self._nodes[label].send_signal(number)
        return at

    def kill_all(self) -> None:
        for label in tuple(self._nodes):
            self.kill(label)


@contextmanager
def _fleet(pair: str) -> Generator[Fleet]:
    kind, _, named = pair.partition("+")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drumbeat-bench-")))
        store = f"sqlite:///{folder / 'bench.db'}"
        if kind == "postgres":
            store = stack.enter_context(Postgres.start()).address
        coordinator = None
        if named:
            server = COORDINATORS[named]()
            stack.enter_context(server)
            coordinator = server.address
        (folder / "runs").mkdir()
        fleet = Fleet(store, coordinator, folder / "runs")
        stack.callback(fleet.kill_all)
        yield fleet


async def _rounds(fleet: Fleet, sizes: Sizes) -> Rounds:
    rounds = Rounds()
    client, busy = fleet.client()
    async with client.connected():
        lone = fleet.start()
        await _settled(client, fleet)
        restarts = rounds.seconds["restart"] = []
        for _ in range(sizes.restarts):
            killed_at = fleet.kill(lone)
            lone = fleet.start()
            restarts.append(await _fired_by(client, partial(eq, lone), killed_at))
            await _settled(client, fleet)
        for _ in range(NODES - 1):
            fleet.start()
        rounds.seconds["failover"] = [await _failover(client, fleet) for _ in range(sizes.kills)]
        rounds.seconds["pause"] = [await _pause(client, fleet) for _ in range(sizes.pauses)]
        rounds.seconds["rescue"] = [
            await _rescue(client, busy, fleet) for _ in range(sizes.rescues)
        ]
        await _settled(client, fleet)
        accused = {what: _accused(fleet, what) - fleet.killed for what in ("evicted", "vanished")}
        fleet.kill_all()
        rounds.accounts = await _accounts(client, fleet)
        rounds.accounts |= {f"{what} alive": len(labels) for what, labels in accused.items()}
    return rounds


async def _failover(client: Drumbeat, fleet: Fleet) -> float:
    leader = await _settled(client, fleet)
    killed_at = fleet.kill(leader)
    seconds = await _fired_by(client, partial(ne, leader), killed_at)
    fleet.start()
    return seconds


async def _pause(client: Drumbeat, fleet: Fleet) -> float:
    leader = await _settled(client, fleet)
    paused_at = fleet.send(leader, signal.SIGSTOP)
    try:
        async with asyncio.timeout(PAUSED):
            seconds = await _fired_by(client, partial(ne, leader), paused_at)
    except TimeoutError:  # on SQLite it may have been stopped within a write, which blocks all
        seconds = PAUSED
    fleet.send(leader, signal.SIGCONT)
    return seconds


async def _rescue(client: Drumbeat, busy: Task[[float], None], fleet: Fleet) -> float:
    leader = await _settled(client, fleet)
    before = _runs(fleet)
    job = await busy.submit(BUSY)
    victim = ""
    while not victim or victim == leader:  # kill one that only works
        (first,) = await _new_runs(fleet, before)
        victim = first[1]
        if victim == leader:
            before = _runs(fleet)
            await client.jobs.cancel(job.id)
            job = await busy.submit(BUSY)
    before = _runs(fleet)
    killed_at = fleet.kill(victim)
    ((began_at, _),) = await _new_runs(fleet, before)
    await client.jobs.cancel(job.id)
    fleet.start()
    return began_at - killed_at


def _runs(fleet: Fleet) -> set[tuple[float, str]]:
    """When and where the busy task began to run."""
    lines = [
        line.split()
        for file in fleet.folder.glob("busy-*")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return {(float(at), label) for at, label in lines}


async def _new_runs(fleet: Fleet, before: set[tuple[float, str]]) -> set[tuple[float, str]]:
    async with asyncio.timeout(LONGEST_WAIT):
        while not (found := _runs(fleet) - before):
            await clock.sleep(LOOK_EVERY)
    return found


def _accused(fleet: Fleet, what: str) -> set[str]:
    """The labels of those that somebody took for dead."""
    return {file.name.split("-", 1)[1].rsplit("-", 1)[0] for file in fleet.folder.glob(f"{what}-*")}


async def _settled(client: Drumbeat, fleet: Fleet) -> str:
    """The label of a leader that fires while all that run are alive, and no other is taken for so.

    A node that is killed while another death is still being noticed is a case of its own.
    """
    async with asyncio.timeout(LONGEST_WAIT):
        while True:
            lease = await client.leadership.leader()
            alive = {label_of(each.node.id) for each in await client.nodes() if each.alive}
            if lease is not None and alive == fleet.labels:
                ticks = await _latest(client, 1)
                if ticks and ticks[0].leader == lease.holder:
                    return label_of(lease.holder)
            await clock.sleep(LOOK_EVERY)


async def _fired_by(client: Drumbeat, wanted: Callable[[str], bool], since: float) -> float:
    """Seconds until a wanted node fires its first tick."""
    async with asyncio.timeout(LONGEST_WAIT):
        while True:
            found = [
                tick.recorded_at.timestamp()
                for tick in await _latest(client, 200)
                if tick.recorded_at.timestamp() > since
                and tick.leader is not None
                and wanted(label_of(tick.leader))
            ]
            if found:
                return min(found) - since
            await clock.sleep(LOOK_EVERY)


async def _latest(client: Drumbeat, count: int) -> Sequence[TickRecord]:
    ticks = (await client.schedules.ticks(BEAT, PageRequest(size=count))).items
    return [tick for tick in ticks if tick.leader is not None]


async def _accounts(client: Drumbeat, fleet: Fleet) -> dict[str, int]:
    """Ticks that were due, and how many of them were lost or fired twice."""
    fired: Counter[float] = Counter()
    skipped, page = 0, PageRequest(size=1000)
    first, last = math.inf, -math.inf
    while True:
        found = await client.schedules.ticks(BEAT, page)
        for tick in found.items:
            at = round(tick.tick_at.timestamp(), 1)
            first, last = min(first, at), max(last, at)
            if tick.job_id is None:
                skipped += tick.count
            else:
                fired[at] += 1
        if found.next is None:
            break
        page = PageRequest(size=1000, after=found.next)
    due = round((last - first) / EVERY) + 1
    runs = Counter(file.name.split("-")[1] for file in fleet.folder.glob("tick-*"))
    return {
        "due": due,
        "lost": due - skipped - len(fired),
        "doubled": sum(count - 1 for count in fired.values()),
        "skipped": skipped,
        "run again": sum(count - 1 for count in runs.values()),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "p50": round(statistics.median(ordered), 2),
        "p99": round(ordered[min(len(ordered) - 1, math.ceil(0.99 * len(ordered)) - 1)], 2),
        "max": round(ordered[-1], 2),
        "rounds": len(ordered),
    }


def main() -> None:
    """Many rounds of one pair."""
    pair, kills, pauses = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    began = datetime.now(UTC)
    figures = measured(pair, Sizes(kills=kills, restarts=0, rescues=0, pauses=pauses))
    print(json.dumps({"began": began.isoformat(), **figures}, indent=2))


if __name__ == "__main__":
    main()
