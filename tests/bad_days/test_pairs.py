"""Every coordinator with every store: a leader is killed, the next one is stopped.

`make test` takes two pairs, since `test_chaos` kills leaders of more; `make chaos` takes all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product
from os import getpid
from pathlib import Path

import psycopg
import pytest

from drumbeat.model.ids import label_of
from servers import Consul, Etcd, Postgres, Redis

from .fleet import TTL, clock, fleet_on

COORDINATORS = ("sqlite", "postgres", "redis", "etcd", "consul")
STORES = ("sqlite", "postgres")
ALWAYS = {("postgres", "postgres"), ("etcd", "sqlite")}
PAIRS = [
    pytest.param(each, id="+".join(each), marks=() if each in ALWAYS else pytest.mark.chaos)
    for each in product(COORDINATORS, STORES)
]
LATE = 3.0
"""Seconds after the end of a term within which somebody must lead again."""
HAND_OVER = 1.0
_serial = count(1)


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
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute(f'DROP SCHEMA IF EXISTS "{namespace}" CASCADE'.encode())


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
            first = await fleet.leader()
            await fleet.led(first)

            killed_at = clock.elapsed()
            fleet.kill(label_of(first.holder))
            second = await fleet.leader(other_than=first)
            assert clock.elapsed() - killed_at < pair.longest_term + LATE
            assert second.holder != first.holder

            fleet.start("three")
            await fleet.led(second)
            await fleet.present("three")
            stopped_at = clock.elapsed()
            stopping = fleet.stop(label_of(second.holder))
            third = await fleet.leader(other_than=second)
            assert clock.elapsed() - stopped_at < HAND_OVER
            assert label_of(third.holder) == "three"
            await fleet.led(third)
            await fleet.ended(stopping)
        await fleet.settle()
