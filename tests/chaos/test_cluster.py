"""A cluster whose parts are all hit in turn: two schedulers, three workers, and their servers.

The jobs are submitted over HTTP to both schedulers. PostgreSQL, Redis and three etcd members are
killed and paused, one after the other, while the nodes are; Redis also comes back empty.
"""

from __future__ import annotations

import asyncio

import pytest

from chaos.chaos_run import RunSettings, run_pairs
from chaos.checks import violations
from chaos.fault_plan import in_turn
from chaos.figures import figures_of
from chaos.history import History, Kind
from chaos.pairs import CLUSTER, Parts
from tests.chaos.conftest import chaos_table

NODES = Parts.of(CLUSTER).labels(5)
MEMBERS = tuple(f"etcd/{member}" for member in range(3))
ON_NODES = in_turn((Kind.KILL, Kind.PAUSE), NODES)
ON_SERVERS = [
    *in_turn((Kind.RESTART, Kind.PAUSE, Kind.EMPTY), ("redis",)),
    *in_turn((Kind.RESTART, Kind.PAUSE), MEMBERS),
    *in_turn((Kind.RESTART, Kind.PAUSE), ("postgres",)),
]
SETTINGS = RunSettings(nodes=len(NODES), ttl=3.0, tracks=(ON_NODES, ON_SERVERS))
IS_QUICK = "failover is quick"
"""The check that depends on how busy the machine is; `test_chaos` measures it."""


@pytest.mark.usefixtures("postgres", "redis", "etcd_three")  # they skip where one is missing
@pytest.mark.timeout(900)  # about a minute, and more on a busy machine
def test_nothing_is_lost_or_doubled_while_every_part_is_hit_in_turn(
    pytestconfig: pytest.Config,
) -> None:
    lines: list[str] = []
    history = asyncio.run(run_pairs([CLUSTER], SETTINGS, lines.append))[CLUSTER]
    assert isinstance(history, History), lines
    figures = figures_of(history)
    pytestconfig.stash.setdefault(chaos_table, []).append(figures)
    broken = [each for each in violations(history) if each.check != IS_QUICK]
    assert broken == []
    done = {(fault.kind, fault.target) for fault in history.faults}
    assert done == {(fault.kind, fault.target) for fault in (*ON_NODES, *ON_SERVERS)}
    assert {life.node for life in history.lives} == set(NODES)
    assert {run.node for run in history.runs} == {node for node in NODES if "worker" in node}
    assert len(history.submissions.acknowledged) > 50
    assert figures.ticks_due > 50
