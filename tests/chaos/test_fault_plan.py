"""The fault plan that a seed determines."""

from __future__ import annotations

from itertools import pairwise

import pytest

from chaos.fault_plan import SKEWS, WAYS, FaultTargets, PlannedFault, plan_faults
from chaos.history import Kind

NODE_KINDS = (Kind.KILL, Kind.PAUSE, Kind.PARTITION, Kind.SLOW, Kind.SKEW, Kind.BLOCK)
TARGETS = FaultTargets(
    nodes=("one", "two", "three"),
    servers=("postgres", "etcd"),
    node_kinds=NODE_KINDS,
    server_kinds=((Kind.RESTART, "postgres"), (Kind.EMPTY, "etcd")),
)
TTL = 2.0


def planned(seed: str, seconds: float = 300.0) -> list[PlannedFault]:
    return plan_faults(seed, TARGETS, seconds, TTL)


def test_a_seed_always_gives_the_same_plan_and_another_seed_another() -> None:
    assert planned("1") == planned("1")
    assert planned("1") != planned("2")


def test_every_kind_occurs_and_every_fault_ends_before_the_run() -> None:
    faults = planned("3")
    assert {fault.kind for fault in faults} == {*NODE_KINDS, Kind.RESTART, Kind.EMPTY}
    assert all(fault.at > 0 and fault.at + fault.seconds <= 300 for fault in faults)
    assert [fault.at for fault in faults] == sorted(fault.at for fault in faults)


def test_each_direction_of_a_partition_and_each_skew_occurs() -> None:
    faults = planned("4", seconds=1000)
    assert {fault.way for fault in faults if fault.kind is Kind.PARTITION} == set(WAYS)
    assert {fault.amount for fault in faults if fault.kind is Kind.SKEW} == set(SKEWS)


def test_a_pause_takes_half_a_lease_to_three_and_a_block_three() -> None:
    faults = planned("5", seconds=1000)
    pauses = [fault.seconds for fault in faults if fault.kind is Kind.PAUSE]
    assert min(pauses) >= TTL / 2
    assert TTL < max(pauses) <= 3 * TTL
    assert {fault.seconds for fault in faults if fault.kind is Kind.BLOCK} == {3 * TTL}


def test_server_faults_do_not_overlap() -> None:
    servers = [fault for fault in planned("6") if fault.kind in (Kind.RESTART, Kind.EMPTY)]
    for before, after in pairwise(servers):
        assert before.at + before.seconds < after.at


@pytest.mark.parametrize(("nodes", "most"), [(3, 1), (5, 2)])
def test_most_nodes_have_no_fault_at_once(nodes: int, most: int) -> None:
    targets = FaultTargets([f"node-{n}" for n in range(nodes)], (), (Kind.PAUSE,), ())
    faults = plan_faults("7", targets, 300.0, TTL)
    at_once = max(
        sum(other.at <= fault.at < other.at + other.seconds for other in faults) for fault in faults
    )
    assert at_once == most
