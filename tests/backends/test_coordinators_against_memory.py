"""Every coordinator beside the memory one, which is the specification: whatever is asked of both,
both answer the same, and what many ask at once is answered as if one came after the other.

Time passes by hand where the coordinator allows it. A server that counts for itself gets short
terms, and seconds of real time in which they end; an example that took so long that a term may have
ended by itself is left there, since nobody can say what the answers should be.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drumbeat.backends.consul.coordinator import ConsulCoordinator
from drumbeat.backends.etcd.coordinator import EtcdCoordinator
from drumbeat.backends.memory.coordinator import MemoryCoordinator
from drumbeat.backends.mongo.coordinator import MongoCoordinator
from drumbeat.backends.postgres.coordinator import PostgresCoordinator
from drumbeat.backends.redis.coordinator import RedisCoordinator
from drumbeat.backends.sqlite.coordinator import SqliteCoordinator
from drumbeat.engine.plumbing.runtime import SystemRuntime
from drumbeat.ports.coordinator import Coordinator
from drumbeat.testing.conformance.builders import race
from drumbeat.testing.conformance.traits import PassTime
from servers import Consul, Etcd, GivenMongo, Mongo, Postgres, Redis
from tests.support.postgres_namespace import namespace_in, tell

from .coordinator_steps import (
    CANDIDATES,
    Driver,
    Expire,
    HalfATerm,
    RaceToAcquire,
    RaceToWrite,
    timeless,
)
from .depth import PATIENCE, examples
from .hand_clock import HandClock
from .mongo_cases import namespace_on
from .redis_cases import wait_until_granting

pytestmark = pytest.mark.timeout(PATIENCE)

HANDLES = 2
LONG = timedelta(hours=1)
"""So long that nothing ends by itself where time passes by hand, however long an example takes."""
MOMENT = timedelta(milliseconds=100)
OVERDUE = timedelta(seconds=20)
SAFE_SHARE = 0.6
"""Of a term's length: as long as an example takes less, no term has ended by itself."""
RUNTIME = SystemRuntime()


@dataclass(frozen=True)
class Place:
    """Where an example happens: some handles on an empty coordinator, and how its time passes."""

    handles: Sequence[Coordinator]
    pass_time: PassTime
    ttl: timedelta = LONG
    expires_within: timedelta = LONG
    driven: bool = True
    """Whether its time passes only when it is told to."""
    overdue: timedelta = timedelta(0)
    """How much later than that a busy server may end a term."""


Places = Callable[[], AbstractAsyncContextManager[Place]]


class Comparison:
    """One example: the same steps on both sides."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._clock = HandClock()
        specification = MemoryCoordinator(self._clock, domain="specification")
        self._ours = Driver(place.handles, place.ttl)
        self._theirs = Driver([specification], place.ttl)
        self._since = RUNTIME.clock.elapsed()

    async def run(self, steps: Sequence[object]) -> None:
        for step in steps:
            match step:
                case Expire():
                    await self._pass(self._place.expires_within)
                    await self._wait_for_late_ends()
                case HalfATerm():
                    await self._pass(self._place.ttl / 2)
                case _:
                    await self._compare(step)
            if self._too_slow():
                return
        assert await self._ours.look() == await self._theirs.look() or self._too_slow()

    async def _compare(self, step: object) -> None:
        match step:
            case RaceToAcquire():
                ours, theirs = await self._race_to_acquire(step.name)
            case RaceToWrite():
                ours, theirs = await self._race_to_write(step.key)
            case _:
                ours, theirs = await self._ours.do(step), await self._theirs.do(step)
        assert ours == theirs or self._too_slow(), step

    async def _race_to_acquire(self, name: str) -> tuple[object, object]:
        """At most one wins; the specification asks in an order in which that one comes first."""
        order = CANDIDATES * 2
        leases = await race(lambda number: self._ours.acquire(name, order[number]), len(order))
        won = [place for place, lease in enumerate(leases) if lease is not None]
        assert len(won) <= 1 or self._too_slow(), leases
        first = won[0] if won else 0
        ours = self._ours.term(leases[first])
        theirs = self._theirs.term(await self._theirs.acquire(name, order[first]))
        return ours, theirs

    async def _race_to_write(self, key: str) -> tuple[object, object]:
        """Exactly one comes first, and the others find that it did."""
        base, expected = await self._ours.revision(key), await self._theirs.revision(key)

        def value(number: int) -> bytes:
            return f"by {number}".encode()

        entries = await race(
            lambda number: self._ours.compare_and_set(key, value(number), base), racers=4
        )
        won = [place for place, entry in enumerate(entries) if entry is not None]
        assert len(won) == 1, entries
        ours = self._ours.write(entries[won[0]])
        theirs = await self._theirs.compare_and_set(key, value(won[0]), expected)
        return ours, self._theirs.write(theirs)

    async def _pass(self, length: timedelta) -> None:
        await self._place.pass_time(length)
        await self._clock.advance(length)
        self._since = RUNTIME.clock.elapsed()

    async def _wait_for_late_ends(self) -> None:
        """Wait until the server, too, says that nobody holds and nobody lives. Some are late."""
        left = self._place.overdue
        empty = await self._theirs.look()
        while left > timedelta(0) and await self._ours.look() != empty:
            await self._place.pass_time(MOMENT)
            left -= MOMENT
        self._since = RUNTIME.clock.elapsed()

    def _too_slow(self) -> bool:
        if self._place.driven:
            return False
        passed = RUNTIME.clock.elapsed() - self._since
        return passed > SAFE_SHARE * self._place.ttl.total_seconds()


def compare(places: Places, plans: st.SearchStrategy[Sequence[object]], number: int) -> None:
    """Look at so many examples, all on one event loop."""
    with asyncio.Runner() as runner:

        async def example(steps: Sequence[object]) -> None:
            async with places() as place:
                await Comparison(place).run(steps)

        @settings(
            max_examples=examples(number),
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
        @given(plans)
        def test(steps: Sequence[object]) -> None:
            runner.run(example(steps))

        test()


def joined(parts: Iterable[Sequence[object]]) -> Sequence[object]:
    return [step for part in parts for step in part]


passing: st.SearchStrategy[Sequence[object]] = st.sampled_from(
    [[Expire()], [HalfATerm()], [HalfATerm()]]
)
parts: st.SearchStrategy[Sequence[object]] = timeless | passing
driven = st.lists(parts, min_size=1, max_size=5).map(joined)
"""Any number of steps, with time in between."""
counted = st.tuples(timeless, st.just([Expire()]), timeless).map(joined)
"""Real time passes once, and for good."""


@asynccontextmanager
async def opened(make: Callable[[], Coordinator]) -> AsyncGenerator[Sequence[Coordinator]]:
    """Some handles on one coordinator."""
    async with AsyncExitStack() as stack:
        handles = [make() for _ in range(HANDLES)]
        for handle in handles:
            stack.push_async_callback(handle.close)
            await handle.open()
        yield handles


async def pass_real_time(length: timedelta) -> None:
    await RUNTIME.clock.sleep(length.total_seconds())


def test_sqlite_answers_as_memory_does() -> None:
    @asynccontextmanager
    async def places() -> AsyncGenerator[Place]:
        clock = HandClock()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "drumbeat.db"
            async with opened(lambda: SqliteCoordinator(path, clock)) as handles:
                yield Place(handles, clock.advance)

    compare(places, driven, 60)


def test_postgres_answers_as_memory_does(postgres: Postgres) -> None:
    with namespace_in(postgres.address) as namespace:

        async def pass_time(length: timedelta) -> None:
            for table in ("leases", "registry"):
                tell(
                    postgres.address,
                    f'UPDATE "{namespace}".{table} '
                    f"SET ends_at = ends_at - interval '{length.total_seconds()} seconds'",
                )

        @asynccontextmanager
        async def places() -> AsyncGenerator[Place]:
            async with opened(
                lambda: PostgresCoordinator(postgres.address, HandClock(), namespace)
            ) as handles:
                for table in ("leases", "registry", "configuration"):
                    tell(postgres.address, f'DELETE FROM "{namespace}".{table}')
                yield Place(handles, pass_time)

        compare(places, driven, 25)


def test_mongo_answers_as_memory_does(mongo: Mongo | GivenMongo) -> None:
    @asynccontextmanager
    async def places() -> AsyncGenerator[Place]:
        ttl = timedelta(seconds=0.8)
        async with (
            namespace_on(mongo.address) as namespace,
            opened(lambda: MongoCoordinator(mongo.address, RUNTIME.clock, namespace)) as handles,
        ):
            yield Place(handles, pass_real_time, ttl, ttl + timedelta(seconds=0.05), driven=False)

    compare(places, counted, 12)


def test_redis_answers_as_memory_does(redis: Redis) -> None:
    @asynccontextmanager
    async def places() -> AsyncGenerator[Place]:
        namespace = f"machine-{uuid4().hex}"
        async with opened(
            lambda: RedisCoordinator(redis.address, RUNTIME.clock, namespace)
        ) as handles:
            ttl = timedelta(seconds=0.6)
            await wait_until_granting(handles[0])
            yield Place(handles, pass_real_time, ttl, ttl + timedelta(seconds=0.05), driven=False)

    compare(places, counted, 12)


@pytest.mark.usefixtures("patient_exchange")
def test_etcd_answers_as_memory_does(etcd: Etcd) -> None:
    @asynccontextmanager
    async def places() -> AsyncGenerator[Place]:
        address = f"{etcd.address}/{uuid4().hex}"
        async with opened(lambda: EtcdCoordinator(address, RUNTIME)) as handles:
            ttl = timedelta(seconds=1)
            late = timedelta(seconds=0.8)
            yield Place(handles, pass_real_time, ttl, ttl + late, driven=False, overdue=OVERDUE)

    compare(places, counted, 6)


@pytest.mark.usefixtures("patient_exchange")
def test_consul_answers_as_memory_does(consul: Consul) -> None:
    @asynccontextmanager
    async def places() -> AsyncGenerator[Place]:
        address = f"{consul.address}/{uuid4().hex}"
        async with opened(lambda: ConsulCoordinator(address, RUNTIME)) as handles:
            ttl = timedelta(seconds=1)
            within = timedelta(seconds=2.5)
            yield Place(handles, pass_real_time, ttl, within, driven=False, overdue=OVERDUE)

    compare(places, counted, 5)
