"""Every coordinator with every store: a leader is killed, the next one is stopped.

`make test` takes two pairs, since `test_chaos` kills leaders of more; `make chaos` takes all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product
from os import getpid
from pathlib import Path

import pytest

from drumbeat.model.ids import label_of
from drumbeat.model.lease import Lease
from servers import Consul, Etcd, Postgres, Redis

from .fleet import TTL, Fleet, clock, drop, fleet_on

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
TRIES = 4
"""How often a busy machine may be too slow for that."""
_serial = count(1)
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True, slots=True)
class Pair:
    """The addresses of a coordinator and a store, and how long a dead leader is waited for."""

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
async def test_a_killed_leader_and_a_stopped_one_are_followed_soon_and_cost_nothing(
    pair: Pair, tmp_path: Path
) -> None:
    async with fleet_on(pair.store, pair.namespace, tmp_path, pair.coordinator) as fleet:
        async with fleet.under_load():
            leader = await killed_leaders_are_followed(fleet, pair.longest_term + LATE)
            await stopped_leaders_are_followed(fleet, leader)
        await fleet.settle()


async def killed_leaders_are_followed(fleet: Fleet, within: float) -> Lease:
    """Kill a leader, and again if a busy machine took its time. Returns who leads then."""
    first = await fleet.acting_leader()
    for number in range(TRIES):
        killed_at = clock.elapsed()
        fleet.kill(label_of(first.holder))
        await fleet.another_leads(than=first)
        took = clock.elapsed() - killed_at
        fleet.start(f"three-{number}")
        await fleet.present(f"three-{number}")
        second = await fleet.acting_leader(other_than=first)
        if took < within:
            return second
        first = second
    raise AssertionError(f"none of {TRIES} killed leaders was followed within {within:g} s")


async def stopped_leaders_are_followed(fleet: Fleet, second: Lease) -> None:
    """Stop a leader, and again if a busy machine took its time."""
    for number in range(TRIES):
        stopped_at = clock.elapsed()
        stopping = fleet.stop(label_of(second.holder))
        await fleet.another_leads(than=second)
        took = clock.elapsed() - stopped_at
        third = await fleet.acting_leader(other_than=second)
        await fleet.ended(stopping)
        if took < HAND_OVER:
            return
        fleet.start(f"four-{number}")
        await fleet.present(f"four-{number}")
        second = third
    raise AssertionError(f"none of {TRIES} stopped leaders was followed within {HAND_OVER:g} s")
