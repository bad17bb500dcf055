"""What the nemesis draws."""

from __future__ import annotations

from itertools import pairwise

import pytest

from chaos.drawing import SKEWS, WAYS, Blow, Field, draw
from chaos.history import Kind

NODE_KINDS = (Kind.KILL, Kind.PAUSE, Kind.PARTITION, Kind.SLOW, Kind.SKEW, Kind.BLOCK)
FIELD = Field(
    nodes=("one", "two", "three"),
    servers=("postgres", "etcd"),
    node_kinds=NODE_KINDS,
    server_kinds=((Kind.RESTART, "postgres"), (Kind.EMPTY, "etcd")),
)
TTL = 2.0


def drawn(seed: str, seconds: float = 300.0) -> list[Blow]:
    return draw(seed, FIELD, seconds, TTL)


def test_a_seed_draws_the_same_day_again_and_another_draws_another() -> None:
    assert drawn("1") == drawn("1")
    assert drawn("1") != drawn("2")


def test_every_kind_comes_and_every_fault_is_over_before_the_day_is() -> None:
    blows = drawn("3")
    assert {blow.kind for blow in blows} == {*NODE_KINDS, Kind.RESTART, Kind.EMPTY}
    assert all(blow.at > 0 and blow.at + blow.seconds <= 300 for blow in blows)
    assert [blow.at for blow in blows] == sorted(blow.at for blow in blows)


def test_each_way_of_a_cut_and_each_skew_comes() -> None:
    blows = drawn("4", seconds=1000)
    assert {blow.way for blow in blows if blow.kind is Kind.PARTITION} == set(WAYS)
    assert {blow.amount for blow in blows if blow.kind is Kind.SKEW} == set(SKEWS)


def test_a_pause_takes_half_a_lease_to_three_and_a_block_three() -> None:
    blows = drawn("5", seconds=1000)
    pauses = [blow.seconds for blow in blows if blow.kind is Kind.PAUSE]
    assert min(pauses) >= TTL / 2
    assert TTL < max(pauses) <= 3 * TTL
    assert {blow.seconds for blow in blows if blow.kind is Kind.BLOCK} == {3 * TTL}


def test_server_faults_do_not_overlap() -> None:
    servers = [blow for blow in drawn("6") if blow.kind in (Kind.RESTART, Kind.EMPTY)]
    for before, after in pairwise(servers):
        assert before.at + before.seconds < after.at


@pytest.mark.parametrize(("nodes", "most"), [(3, 1), (5, 2)])
def test_most_nodes_are_left_alone(nodes: int, most: int) -> None:
    field = Field([f"node-{n}" for n in range(nodes)], (), (Kind.PAUSE,), ())
    blows = draw("7", field, 300.0, TTL)
    at_once = max(
        sum(other.at <= blow.at < other.at + other.seconds for other in blows) for blow in blows
    )
    assert at_once == most
