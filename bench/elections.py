"""Elections by every coordinator, each on its own server and with a SQLite file as the store.

A take-over is the time from `kill -9` of the leader, one of three processes, to the first tick that
the next one fires. A hand-over is the time from an elector's resignation to the other's lease; both
electors are in one process, each with its own connection. A lock is acquired and released by
`app.lock`, each caller with its own name; the coordinators take turns, round by round. An idle
election is one leader and one follower with the default timings: proxies count their requests.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

from bench.counting_proxy import CountingProxy
from bench.take_over_fleet import take_overs
from drumbeat import Drumbeat
from drumbeat.backend_factory import coordinator_at
from drumbeat.config import Config
from drumbeat.engine.leading.candidacy import RESIGNED, Candidacy
from drumbeat.engine.leading.elector import LeaderElector
from drumbeat.engine.plumbing.bus import Bus
from drumbeat.engine.plumbing.runtime import SystemClock, SystemRuntime
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.ids import node_id
from drumbeat.rules.leadership.lease_trust import Following, Leading, LeaseTimings
from servers import Consul, Etcd, Missing, Mongo, Postgres, Redis

TITLE = "Elections and locks by every coordinator"
SERVERS: dict[str, Callable[[], Postgres | Mongo | Redis | Etcd | Consul]] = {
    "postgres": Postgres.start,
    "mongo": Mongo.start,
    "redis": Redis.start,
    "etcd": Etcd.start,
    "etcd of three": lambda: Etcd.start(nodes=3),
    "consul": Consul.start,
}
NAMES = ("sqlite", *SERVERS)
CALLERS = (1, 10)
LOCKING = 1.0
"""Seconds of a round."""
DEFAULT_TTL, DEFAULT_RETRY = 10.0, 2.0
LOOK_EVERY = 0.0005
LONGEST_WAIT = 30.0
NAMESPACE = "bench"
clock = SystemClock()


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of the measurements."""

    ttls: Sequence[float] = (3.0, 10.0)
    rounds: int = 20
    hand_overs: int = 20
    lock_rounds: int = 5
    idle: float = 60.0
    """Seconds."""


QUICK = Sizes(ttls=(3.0,), rounds=5, hand_overs=5, lock_rounds=2, idle=15.0)


def run(*, quick: bool) -> dict[str, object]:
    return measured(QUICK if quick else Sizes())


def measured(sizes: Sizes, names: Sequence[str] = NAMES) -> dict[str, object]:
    """The figures of some coordinators."""
    figures: dict[str, object] = {}
    addresses: dict[str, str] = {}
    with ExitStack() as servers:
        for name in names:
            try:
                addresses[name] = servers.enter_context(_coordinator(name))
            except Missing as missing:
                figures[name] = f"not measured: {missing}"
        for name, address in addresses.items():
            for title, figure in asyncio.run(_measure(address, sizes)).items():
                figures[f"{name}: {title}"] = figure
        figures |= _locks_in_turns(addresses, sizes.lock_rounds)
    return figures


@contextmanager
def _coordinator(name: str) -> Generator[str]:
    if name == "sqlite":
        with tempfile.TemporaryDirectory(prefix="drumbeat-bench-") as folder:
            yield f"sqlite:///{Path(folder) / 'coordinator.db'}"
    else:
        with SERVERS[name]() as server:
            yield server.address


async def _measure(address: str, sizes: Sizes) -> dict[str, object]:
    figures: dict[str, object] = {}
    for ttl in sizes.ttls:
        taken = await take_overs(address, ttl, sizes.rounds, NAMESPACE)
        figures[f"take-over at TTL {ttl:g} s, seconds"] = _spread(taken, 2)
    handed = await _hand_overs(address, sizes.hand_overs)
    figures["hand-over, milliseconds"] = _spread([1000 * each for each in handed], 1)
    figures["idle election, requests per minute"] = await _idle(address, sizes.idle)
    return figures


def _spread(values: Sequence[float], digits: int) -> dict[str, float]:
    return {
        "p50": round(statistics.median(values), digits),
        "max": round(max(values), digits),
        "rounds": len(values),
    }


async def _hand_overs(address: str, rounds: int) -> list[float]:
    async with _running_electors([address, address], ttl=3.0, retry_every=0.6) as electors:
        seconds: list[float] = []
        for _ in range(rounds):
            leader, state, follower = await _settled(electors)
            resigned_at = time.monotonic()
            leader.resign(state.lease, RESIGNED)
            await _until(partial(_leads, follower))
            seconds.append(time.monotonic() - resigned_at)
        return seconds


def _locks_in_turns(addresses: Mapping[str, str], rounds: int) -> dict[str, object]:
    """Locks per second, as medians, since other load disturbs some rounds."""
    rates: defaultdict[str, list[int]] = defaultdict(list)
    for _ in range(rounds):
        for (name, address), callers in product(addresses.items(), CALLERS):
            rate = asyncio.run(_locks(address, callers, LOCKING))
            rates[f"{name}: locks per second, callers: {callers}"].append(rate)
    return {title: round(statistics.median(values)) for title, values in rates.items()}


async def _locks(address: str, callers: int, seconds: float) -> int:
    app = Drumbeat("memory://", coordinator=address, namespace=NAMESPACE, environment={})
    done = 0

    async def lock(name: str) -> None:
        nonlocal done
        while time.monotonic() < over:
            async with app.lock(name):
                done += 1

    async with app.connected():
        await _first_lock(app)
        began = time.monotonic()
        over = began + seconds
        await asyncio.gather(*(lock(f"lock-{number}") for number in range(callers)))
        return round(done / (time.monotonic() - began))


async def _first_lock(app: Drumbeat) -> None:
    """Wait until a server that was just started grants a lock."""
    async with app.lock("first", wait=LONGEST_WAIT):
        pass


async def _idle(address: str, seconds: float) -> object:
    if urlsplit(address).scheme == "sqlite":
        return "none: there is no server"
    async with AsyncExitStack() as stack:
        addresses = [await _counted(address, stack) for _ in range(2)]
        electors = [counted.address for counted in addresses]
        running = _running_electors(electors, DEFAULT_TTL, DEFAULT_RETRY)
        both = await stack.enter_async_context(running)
        leader, _, _ = await _settled(both)
        before = [counted.requests for counted in addresses]
        await asyncio.sleep(seconds)
        sent = [
            round((counted.requests - asked) * 60 / seconds)
            for counted, asked in zip(addresses, before, strict=True)
        ]
        leading, following = sent if leader is both[0] else reversed(sent)
        return {"leader": leading, "follower": following}


@dataclass(frozen=True, slots=True)
class CountedAddress:
    """An address that leads through counting proxies."""

    address: str
    proxies: Sequence[CountingProxy]

    @property
    def requests(self) -> int:
        """The requests so far."""
        return sum(proxy.requests for proxy in self.proxies)


async def _counted(address: str, stack: AsyncExitStack) -> CountedAddress:
    parts = urlsplit(address)
    user, at, hosts = parts.netloc.rpartition("@")
    ports = [int(host.rpartition(":")[2]) for host in hosts.split(",")]
    proxies = [await stack.enter_async_context(CountingProxy(port).running()) for port in ports]
    netloc = user + at + ",".join(f"127.0.0.1:{proxy.port}" for proxy in proxies)
    return CountedAddress(parts._replace(netloc=netloc).geturl(), proxies)


@asynccontextmanager
async def _running_electors(
    addresses: Sequence[str], ttl: float, retry_every: float
) -> AsyncGenerator[list[LeaderElector]]:
    """Electors of one election, one for each address, each with its own connection."""
    runtime, config = SystemRuntime(), Config(namespace=NAMESPACE)
    timings = LeaseTimings.for_ttl(ttl)
    electors = [
        LeaderElector(
            Candidacy(SCHEDULER, node_id(f"bench-{number}", number), timings, retry_every),
            coordinator_at(address, config, runtime),
            runtime,
            Bus(runtime.clock),
        )
        for number, address in enumerate(addresses)
    ]
    try:
        for elector in electors:
            elector.start()
        yield electors
    finally:
        await asyncio.gather(*(elector.stop() for elector in electors))


async def _settled(
    electors: Sequence[LeaderElector],
) -> tuple[LeaderElector, Leading, LeaderElector]:
    """The leader, its state, and the follower, once it has tried to lead since."""
    await _until(lambda: any(_leads(elector) for elector in electors))
    first, second = electors
    leader, follower = (first, second) if _leads(first) else (second, first)
    asked = follower.tries
    await _until(lambda: follower.tries > asked)
    state = leader.state
    if isinstance(state, Leading) and isinstance(follower.state, Following):
        return leader, state, follower
    return await _settled(electors)


def _leads(elector: LeaderElector) -> bool:
    return isinstance(elector.state, Leading)


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONGEST_WAIT):
        while not true():
            await clock.sleep(LOOK_EVERY)
