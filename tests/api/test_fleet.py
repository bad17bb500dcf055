"""Queues, nodes, elections, shared values, settings and tasks over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.http.application import Api
from drumbeat.api.table import TABLE
from drumbeat.model.fleet.lease import SCHEDULER
from drumbeat.model.fleet.node import Beat, Node, Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import JobSpec
from drumbeat.testing import Cluster, drain, inside

from .caller import Caller, House, house


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


async def test_a_queue_tells_its_depth_its_age_and_its_rates(ours: House, ask: Caller) -> None:
    await ours.app.submit(JobSpec("greet"))
    first = (await ask("GET", "/queues/default")).data
    assert (first["counts"]["queued"], first["per_minute"]) == (1, None)
    await drain(ours.app)
    await ours.app.submit(JobSpec("greet"))
    await ours.clock.advance("30s")
    (queue,) = (await ask("GET", "/queues")).data
    assert queue["oldest_age_seconds"] == 30.0
    assert queue["per_minute"] == {"completed": 2.0, "failed": 0.0, "cancelled": 0.0}
    assert queue["per_minute_over_seconds"] == 30.0
    assert (await ask("GET", "/queues/other")).kind == "unknown-queue"


async def test_the_rate_of_a_queue_that_is_seldom_asked_for_says_over_which_time(
    ours: House, ask: Caller
) -> None:
    await ask("GET", "/queues")
    for _ in range(3):
        await ours.app.submit(JobSpec("greet"))
    await drain(ours.app)
    await ours.clock.advance("1s")
    (at_once,) = (await ask("GET", "/queues")).data
    assert (at_once["per_minute"], at_once["per_minute_over_seconds"]) == (None, None)
    await ours.clock.advance("3599s")
    (queue,) = (await ask("GET", "/queues")).data
    assert (queue["per_minute"]["completed"], queue["per_minute_over_seconds"]) == (0.05, 3600.0)


async def test_a_paused_queue_is_not_worked_on(ours: House, ask: Caller) -> None:
    await ours.app.submit(JobSpec("greet"))
    paused = (await ask("POST", "/queues/default/pause", {"reason": "too much"})).data
    assert paused["paused"]["reason"] == "too much"
    await drain(ours.app)
    assert (await ask("GET", "/queues/default")).data["counts"]["queued"] == 1
    assert (await ask("POST", "/queues/default/resume")).data["paused"] is None
    await drain(ours.app)
    assert (await ask("GET", "/queues/default")).data["counts"]["completed"] == 1
    assert (await ask("POST", f"/queues/{'x' * 201}/pause")).status == 422


async def start_a_node(ours: House) -> NodeId:
    node = Node(NodeId("web-1:00ff"), frozenset({Role.WORKER}), "1", ours.clock.now(), 10)
    await ours.app.store.nodes.beat(Beat(node, lifetime=20))
    leases = inside.setup(ours.app).backends.coordinator.leases
    lease = await leases.acquire(SCHEDULER, node.id, timedelta(seconds=10))
    assert lease is not None
    await ours.app.store.fence.claim(lease)
    return node.id


async def test_nodes_are_listed_and_drained_by_identity_or_label(ours: House, ask: Caller) -> None:
    node = await start_a_node(ours)
    (shown,) = (await ask("GET", "/nodes")).data
    assert (shown["id"], shown["leader"], shown["slots"]) == (node, True, 10)
    assert (await ask("GET", f"/nodes/{node}")).data == shown
    drained = await ask("POST", "/nodes/web-1/drain", {"reason": "update"})
    assert (drained.status, drained.data) == (202, {"draining": [node]})
    assert (await ask("GET", f"/nodes/{node}")).data["drain_requested"] is True
    assert (await ask("POST", "/nodes/web-9/drain")).kind == "unknown-node"
    await ours.clock.advance("1m")
    assert (await ask("GET", "/nodes")).data == []
    assert [each["alive"] for each in (await ask("GET", "/nodes?all=true")).data] == [False]


async def test_an_election_tells_its_leader_and_its_history(ours: House, ask: Caller) -> None:
    nobody = (await ask("GET", "/elections/scheduler")).data
    assert (nobody["leader"], nobody["epoch"]) == (None, None)
    assert (await ask("POST", "/elections/scheduler/resign")).kind == "nobody-leads"
    node = await start_a_node(ours)
    (election,) = (await ask("GET", "/elections")).data
    assert (election["leader"], election["epoch"], election["is_leader"]) == (node, 1, False)
    (term,) = (await ask("GET", "/elections/scheduler/history")).data
    assert (term["epoch"], term["node"]) == (1, node)
    assert (await ask("GET", "/elections/other")).kind == "unknown-election"


async def test_a_leader_resigns_when_asked() -> None:
    def declare(app: Drumbeat) -> None:
        del app

    async with Cluster(declare, nodes=2) as cluster:
        leader = await cluster.wait_for_leader()
        fleet = inside.measured_fleet(cluster.client)
        caller = Caller(Api(fleet, AccessControl(fleet, local=True), TABLE))
        led = (await caller("GET", "/elections/scheduler")).data["leader"]
        assert led == leader.id
        answer = await cluster.clock.until(caller("POST", "/elections/scheduler/resign"))
        assert answer.status == 200, answer.body
        assert answer.data["before"]["leader"] == led
        assert answer.data["after"]["leader"] not in (None, led)


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "application/json"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "application/json"),
        ("application/json, text/plain, */*", "application/json"),  # as libraries for browsers do
        ("text/plain", "text/plain"),
        ("text/plain;version=0.0.4;q=1,*/*;q=0.1", "text/plain"),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2",
            "application/openmetrics-text",
        ),
    ],
)
async def test_metrics_are_json_unless_somebody_asks_for_text(
    ask: Caller, accept: str, media_type: str
) -> None:
    answer = await ask("GET", "/metrics", accept=accept)
    assert answer.status == 200
    assert answer.headers["content-type"].partition(";")[0] == media_type


async def test_only_the_leader_knows_how_much_is_left_of_its_lease() -> None:
    def declare(app: Drumbeat) -> None:
        del app

    async with Cluster(declare, nodes=2) as cluster:
        leader = await cluster.wait_for_leader()
        told: dict[str, Any] = {}
        for app in cluster.nodes:
            fleet = inside.measured_fleet(app)
            caller = Caller(Api(fleet, AccessControl(fleet, local=True), TABLE))
            told[app.id] = (await caller("GET", "/elections/scheduler")).data
        for node, election in told.items():
            assert election["is_leader"] is (node == leader.id)
            left = election["lease_remaining_seconds"]
            assert 0 < left <= election["ttl_seconds"] if node == leader.id else left is None


async def test_a_shared_value_is_written_compared_and_deleted(ask: Caller) -> None:
    path = "/configuration/shop%2Flimits"
    made = await ask("PUT", path, {"value": {"most": 3}}, if_none_match="*")
    assert (made.status, made.data["value"]) == (200, {"most": 3})
    assert (await ask("PUT", path, {"value": 1}, if_none_match="*")).status == 412
    etag = made.headers["etag"]
    changed = await ask("PUT", path, {"value": None}, if_match=etag)
    assert (changed.status, changed.data["value"]) == (200, None)
    late = await ask("PUT", path, {"value": 4}, if_match=etag)
    assert (late.status, late.kind) == (412, "changed-meanwhile")
    assert (await ask("DELETE", path, if_match=etag)).status == 412
    assert (await ask("GET", path)).headers["etag"] == changed.headers["etag"]
    assert (await ask("DELETE", path)).status == 204
    assert (await ask("DELETE", path)).status == 404
    assert (await ask("PUT", path, {"value": 1}, if_match="soon")).data["field"] == "if-match"


async def test_values_are_bounded_and_some_keys_are_not_to_be_touched(ask: Caller) -> None:
    large = await ask("PUT", "/configuration/a", {"value": "x" * 65_536})
    assert (large.status, large.data["field"]) == (413, "value")
    for key in ("resign%2Fscheduler", "drumbeat%2Fx", "in-process%2Ftaken", "k" * 201):
        for method, body in (("GET", None), ("PUT", {"value": 1}), ("DELETE", None)):
            assert (await ask(method, f"/configuration/{key}", body)).status == 404


async def test_settings_are_shown_without_their_secrets() -> None:
    ask = house(api_token="let-me-in-with-this-one").caller("let-me-in-with-this-one")
    shown = await ask("GET", "/settings")
    assert shown.status == 200
    assert b"let-me-in-with-this-one" not in shown.body
    assert shown.data["store"] == {
        "value": "memory://",
        "origin": "code",
        "variable": "DRUMBEAT_STORE",
    }


async def test_tasks_are_listed_with_what_they_take(ours: House, ask: Caller) -> None:
    @ours.app.task(secret=("password",), queue="auth")
    async def login(user: str, password: str) -> None:
        """Let somebody in.

        Or not.
        """

    greet, shown = (await ask("GET", "/tasks")).data
    assert greet["parameters"] == [
        {"name": "name", "type": "str", "required": False, "secret": False}
    ]
    assert (shown["name"], shown["description"]) == ("login", "Let somebody in.")
    assert [(each["name"], each["secret"]) for each in shown["parameters"]] == [
        ("user", False),
        ("password", True),
    ]
