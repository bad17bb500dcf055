"""Every coordinator with every store: leaders are killed, then leaders are stopped.

`make test` takes two pairs, since `test_chaos` kills leaders of more; `make chaos` takes all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, product
from os import getpid
from pathlib import Path

import pytest

from drumbeat.model.fleet.lease import Lease
from drumbeat.model.ids import label_of
from servers import Consul, Etcd, Postgres, Redis

from .fleet import TTL, Fleet, clock, drop, fleet_on
from .shares import Share

COORDINATORS = ("sqlite", "postgres", "redis", "etcd", "consul")
STORES = ("sqlite", "postgres")
ALWAYS = {("postgres", "postgres"), ("etcd", "sqlite")}
PAIRS = [
    pytest.param(each, id="+".join(each), marks=() if each in ALWAYS else pytest.mark.chaos)
    for each in product(COORDINATORS, STORES)
]
LATE = 3.0
"""Seconds after the end of a term within which somebody must lead again."""
HAND_OVER = TTL / 2
"""Seconds after a leader was told to stop within which somebody leads: its lease, which is renewed
every third of it, would have stood for longer."""
IN_TIME = Share(good=2, tries=3)
"""Most of the leaders that are killed, and most of those that are stopped, are followed in time.

A busy machine may hold up a single failover: it starts another process, or writes to a slow disk.
A fault of ours, such as a lease that is not released or a follower that does not hear of it, holds
up every one.
"""
_serial = count(1)
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True, slots=True)
class Pair:
    """A coordinator and a store, by name and address, and how long a dead leader is waited for."""

    name: str
    coordinator: str
    store: str
    namespace: str
    longest_term: float


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    coordinator, store = request.param
    namespace = f"pairs_{getpid()}_{next(_serial)}"
    longest = 2 * TTL if coordinator == "consul" else TTL  # its TTL is a lower bound, as it says
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
    server: Postgres | Redis | Etcd | Consul = request.getfixturevalue(kind)
    return server.address


@pytest.mark.parametrize("pair", PAIRS, indirect=True)
async def test_killed_leaders_and_stopped_ones_are_followed_soon_and_cost_nothing(
    pair: Pair, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with fleet_on(pair.store, pair.namespace, tmp_path, pair.coordinator) as fleet:
        async with fleet.under_load():
            killed = [await seconds_after_a_kill(fleet, each) for each in range(IN_TIME.tries)]
            stopped = [await seconds_after_a_stop(fleet, each) for each in range(IN_TIME.tries)]
        await fleet.settle()
    tell(IN_TIME.check(f"{pair.name}, killed leaders", killed, pair.longest_term + LATE))
    tell(IN_TIME.check(f"{pair.name}, stopped leaders", stopped, HAND_OVER))


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
    """Start another node, and wait until it is there and somebody else than the old one acts."""
    fleet.start(label)
    await fleet.present(label)
    await fleet.acting_leader(other_than=gone)
