"""`drumbeat node`, `leader` and `doctor`, and how a leader resigns that is asked to."""

from __future__ import annotations

from datetime import timedelta

import pytest

from drumbeat import Drumbeat, every
from drumbeat.engine.leading.hand_over import request_for
from drumbeat.model.fleet.lease import SCHEDULER, Lease
from drumbeat.model.ids import NodeId
from drumbeat.testing import Cluster, FakeClock

from .support import Terminal

NODE = {
    "id",
    "label",
    "roles",
    "alive",
    "draining",
    "drain_requested",
    "version",
    "slots",
    "busy",
    "queues",
    "started_at",
    "beat_at",
    "expires_at",
    "leader",
    "registered",
    "addresses",
    "metrics",
}


def test_a_fleet_of_nobody_is_told_as_such(terminal: Terminal) -> None:
    assert terminal("node", "list").out == "No node is alive.\n"
    assert terminal("leader").out == "Nobody leads.\n"
    assert terminal("leader", "-o", "json").data == {
        "leader": None,
        "election": None,
        "token": None,
        "ttl_seconds": None,
        "domain": None,
    }
    assert terminal("leader", "resign").code == 3


def test_the_nodes_are_listed_with_the_leader_among_them(terminal: Terminal) -> None:
    terminal.start_a_node()
    (node,) = terminal("node", "list", "-o", "json").data
    assert set(node) == NODE
    assert (node["alive"], node["leader"], node["roles"]) == (
        True,
        True,
        ["scheduler", "worker"],
    )
    line = terminal("node", "list").out.splitlines()[1]
    assert "alive" in line
    assert "leader, scheduler, worker" in line
    assert terminal("leader", "-o", "json").data["leader"] == node["id"]


def test_a_node_that_is_gone_is_only_counted(terminal: Terminal) -> None:
    terminal.start_a_node()
    terminal.do(terminal.clock.advance("1m"))
    answer = terminal("node", "list")
    assert (answer.out, answer.err) == ("No node is alive.\n", "1 more is gone; --all lists it.\n")


def test_a_node_is_drained_by_its_label(terminal: Terminal) -> None:
    terminal.start_a_node()
    (node,) = terminal("node", "list", "-o", "json").data
    assert terminal("node", "drain", node["label"], "-o", "json").data == {"draining": [node["id"]]}
    assert terminal("node", "list", "-o", "json").data[0]["drain_requested"] is True


def test_an_unknown_node_is_one_sentence_and_exit_code_3(terminal: Terminal) -> None:
    answer = terminal("node", "drain", "web-9")
    assert (answer.code, answer.err) == (
        3,
        "Error: no live node is named 'web-9'; alive: none\n",
    )


def test_a_healthy_fleet_passes_every_check(at_the_store: Terminal) -> None:
    at_the_store.start_a_node()
    answer = at_the_store("doctor", "-o", "json")
    assert answer.code == 0, answer.out
    checks = {check["check"]: check for check in answer.data}
    assert set(checks) == {
        "python",
        "sqlite",
        "time zones",
        "settings",
        "store",
        "clock",
        "leader",
        "nodes",
        "running jobs",
        "queued jobs",
        "schedules",
        "tasks",
    }
    assert all(check["ok"] for check in checks.values())


def test_a_doctor_names_what_is_wrong_and_exits_with_1(terminal: Terminal) -> None:
    terminal("job", "submit", "elsewhere")
    terminal("schedule", "create", "beat", "--task", "greet", "--every", "1m")
    terminal.do(terminal.clock.advance("1h"))
    answer = terminal("doctor")
    assert answer.code == 1
    assert "checks failed" in answer.err
    for words in (
        "✗  leader        nobody leads",
        "✗  nodes         0 alive",
        "✗  queued jobs   1 queued for over 5m: 1",
        "✗  schedules     1 overdue: beat",
        "✗  tasks         unknown here: elsewhere",
        "✓  python",
    ):
        assert words in answer.out


def test_a_doctor_finds_what_is_stuck_behind_a_long_queue(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("drumbeat.cli.checks.fleet.LOOKED_AT", 3)
    terminal("job", "submit", "greet")
    terminal.do(terminal.clock.advance("1h"))
    for _ in range(4):
        terminal("job", "submit", "greet")
    assert "✗  queued jobs   1 queued for over 5m: 1" in terminal("doctor").out


def declare(app: Drumbeat) -> None:
    @app.scheduled(every(minutes=1))
    async def beat() -> None: ...


async def test_a_leader_that_is_asked_to_resign_lets_another_lead() -> None:
    async with Cluster(declare, nodes=2, clock=FakeClock()) as cluster:
        leader = await cluster.wait_for_leader()
        lease = await cluster.client.leadership.leader()
        assert lease is not None
        await cluster.client.config.put(*request_for(lease))
        await cluster.clock.advance("1s")
        another = await cluster.wait_for_leader()
        assert another is not leader
        assert another.leadership.epoch == 2


async def test_a_request_for_an_earlier_term_means_nobody() -> None:
    async with Cluster(declare, nodes=2, clock=FakeClock()) as cluster:
        await cluster.wait_for_leader()
        lease = await cluster.client.leadership.leader()
        assert lease is not None
        await cluster.client.config.put(*request_for(lease))
        await cluster.clock.advance("1s")
        another = await cluster.wait_for_leader()
        await cluster.client.config.put(*request_for(lease))
        await cluster.clock.advance("1m")
        assert cluster.leader is another


def test_who_led_is_listed_latest_first(terminal: Terminal) -> None:
    assert terminal("leader", "history").out == "Nobody has led yet.\n"
    for token in (3, 9):
        node = NodeId(f"web-{token}:00ff")
        lease = Lease(SCHEDULER, node, "here", token, timedelta(seconds=10))
        terminal.do(terminal.app.store.fence.claim(lease))
        terminal.do(terminal.clock.advance("1m"))
    terms = terminal("leader", "history", "-o", "json").data
    assert [(term["epoch"], term["node"], term["token"]) for term in terms] == [
        (2, "web-9:00ff", 9),
        (1, "web-3:00ff", 3),
    ]
    answer = terminal("leader", "history", "--limit", "1")
    assert answer.out.splitlines()[1].split()[:2] == ["2", "web-9:00ff"]
    assert "(1m ago)" in answer.out
    assert answer.err == "There are more; --limit shows more than 1.\n"
