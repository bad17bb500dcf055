"""Every coordinator with every store: leaders are killed, then leaders are stopped.

`make test` runs two pairs, since `test_chaos` kills leaders on others; `make chaos` runs all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, product
from os import getpid
from pathlib import Path

import pytest

from chaos.pairs import longest_term
from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import label_of
from servers import Consul, Etcd, GivenMongo, Mongo, Postgres, Redis
from tests.chaos.fleet import TTL, Fleet, clock, drop, fleet_on
from tests.chaos.shares import Share

COORDINATORS = ("sqlite", "postgres", "mongo", "redis", "etcd", "consul")
STORES = ("sqlite", "postgres", "mongo")
ALWAYS = {("postgres", "postgres"), ("etcd", "sqlite")}
PAIRS = [
    pytest.param(each, id="+".join(each), marks=() if each in ALWAYS else pytest.mark.chaos)
    for each in product(COORDINATORS, STORES)
]
LATE = 3.0
"""Seconds after the end of a term within which another node must lead."""
HAND_OVER = TTL / 2
"""Seconds after a leader was asked to stop within which another leads. Its lease, renewed every
third of the TTL, would have lasted longer."""
IN_TIME = Share(good=2, tries=3)
"""Most killed leaders, and most stopped ones, are replaced in time.

A busy machine may delay a single failover; a bug, such as a lease that is not released or a
follower that gets no hint, delays every one.
"""
_serial = count(1)
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True, slots=True)
class Pair:
    """A coordinator and a store, and the longest term of a dead leader."""

    name: str
    coordinator: str
    store: str
    namespace: str
    longest_term: float


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    coordinator, store = request.param
    namespace = f"pairs_{getpid()}_{next(_serial)}"
    longest = longest_term(coordinator, TTL)
    yield Pair(
        f"{coordinator}+{store}",
        _address(request, tmp_path, coordinator),
        _address(request, tmp_path, store),
        namespace,
        longest,
    )
    if "postgres" in (coordinator, store):
        server: Postgres = request.getfixturevalue("postgres")
        drop(server.address, namespace)


def _address(request: pytest.FixtureRequest, folder: Path, kind: str) -> str:
    if kind == "sqlite":
        return f"sqlite:///{folder / 'fleet.db'}"
    server: Postgres | Mongo | GivenMongo | Redis | Etcd | Consul = request.getfixturevalue(kind)
    return server.address


@pytest.mark.parametrize("pair", PAIRS, indirect=True)
async def test_killed_and_stopped_leaders_are_replaced_in_time_and_nothing_is_lost(
    pair: Pair, tmp_path: Path, report_tries: Callable[[str], None]
) -> None:
    async with fleet_on(pair.store, pair.namespace, tmp_path, pair.coordinator) as fleet:
        async with fleet.submitter.submitting():
            killed = [await seconds_after_a_kill(fleet, each) for each in range(IN_TIME.tries)]
            stopped = [await seconds_after_a_stop(fleet, each) for each in range(IN_TIME.tries)]
        await fleet.settle()
    report_tries(IN_TIME.check(f"{pair.name}, killed leaders", killed, pair.longest_term + LATE))
    report_tries(IN_TIME.check(f"{pair.name}, stopped leaders", stopped, HAND_OVER))


async def seconds_after_a_kill(fleet: Fleet, number: int) -> float:
    """Kill the leader, replace it, and return how long it took until another node led."""
    leader = await fleet.acting_leader()
    killed_at = clock.elapsed()
    fleet.kill(label_of(leader.holder))
    await fleet.another_leads(than=leader)
    took = clock.elapsed() - killed_at
    await _replace(fleet, leader, f"three-{number}")
    return took


async def seconds_after_a_stop(fleet: Fleet, number: int) -> float:
    """Stop the leader, replace it, and return how long it took until another node led."""
    leader = await fleet.acting_leader()
    stopped_at = clock.elapsed()
    stopping = fleet.stop(label_of(leader.holder))
    await fleet.another_leads(than=leader)
    took = clock.elapsed() - stopped_at
    await fleet.ended(stopping)
    await _replace(fleet, leader, f"four-{number}")
    return took


async def _replace(fleet: Fleet, gone: Lease, label: str) -> None:
    """Start another node, and wait until it is alive and another than the old leader fires."""
    fleet.start(label)
    await fleet.present(label)
    await fleet.acting_leader(other_than=gone)
