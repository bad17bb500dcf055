"""While the coordinator is away, its absence is named at once, and all else goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from drumbeat.model.errors import Unavailable
from drumbeat.model.events import CoordinatorFailed
from drumbeat.testing import inside

from .caller import House, house

KIND = "coordinator-unavailable"


async def refusing(*_: object) -> Any:
    raise Unavailable("the coordinator is away")


async def silent(*_: object) -> Any:
    await asyncio.Event().wait()


@pytest.fixture(params=[refusing, silent], ids=["refuses", "is silent"])
def lose(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[House], None]:
    """Takes the coordinator of a house away."""

    def away(ours: House) -> None:
        coordinator = inside.setup(ours.app).backends.coordinator
        for part, name in (
            (coordinator.leases, "current"),
            (coordinator.registry, "nodes"),
            (coordinator.registry, "register"),
        ):
            monkeypatch.setattr(part, name, request.param)

    return away


async def within(ours: House, path: str, seconds: float) -> Any:
    """The answer to a request that may take this long."""
    asking = asyncio.create_task(ours.caller()("GET", path))
    await ours.clock.advance(seconds)
    assert asking.done(), f"GET {path} took longer than {seconds:g} s"
    return asking.result()


async def test_the_leader_is_not_known_and_the_problem_says_why(
    lose: Callable[[House], None],
) -> None:
    ours = house()
    assert (await within(ours, "/leader", 0.0)).status == 200
    lose(ours)
    for path in ("/leader", "/elections", "/elections/scheduler"):
        await ours.clock.advance("2s")
        answer = await within(ours, path, 1.1)
        assert (answer.status, answer.kind) == (503, KIND)
        assert "the coordinator does not answer" in answer.data["detail"]
        assert answer.headers["retry-after"] == "2"


async def test_further_requests_are_answered_at_once(lose: Callable[[House], None]) -> None:
    ours = house()
    lose(ours)
    await within(ours, "/leader", 1.1)
    assert (await within(ours, "/leader", 0.0)).kind == KIND


async def test_a_node_that_knows_of_the_outage_answers_at_once(
    lose: Callable[[House], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = house()
    monkeypatch.setattr(inside.setup(ours.app).backends.coordinator.leases, "acquire", refusing)
    failed: list[CoordinatorFailed] = []
    ours.app.on(CoordinatorFailed)(failed.append)
    lose(ours)
    await ours.app.start()
    await ours.clock.advance("3s")
    assert failed
    assert (await within(ours, "/leader", 0.0)).kind == KIND
    health = await within(ours, "/health", 0.0)
    assert (health.status, health.data["coordinator_health"]) == (503, False)
    await ours.clock.until(ours.app.stop(0.0))


async def test_nodes_are_listed_without_saying_who_leads(lose: Callable[[House], None]) -> None:
    ours = house()
    await ours.app.start(["worker"])
    lose(ours)
    answer = await within(ours, "/nodes", 2.1)
    (node,) = answer.data
    assert (answer.status, node["alive"], node["leader"]) == (200, True, False)
    assert node["registered"] is None
    await ours.clock.until(ours.app.stop(0.0))
