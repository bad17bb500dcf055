"""Many jobs at once over HTTP, on every kind of store, by a node that leads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from os import getpid
from pathlib import Path

import psycopg
import pytest

from drumbeat import Drumbeat, Retry
from drumbeat.api.access.access_control import AccessControl
from drumbeat.api.http.application import Api
from drumbeat.api.table import TABLE
from drumbeat.engine.tasks.context import Context
from drumbeat.model.fleet.node import Role
from drumbeat.model.ids import NodeId
from drumbeat.model.jobs.job import Attempt, Job, JobFilter, JobSpec, Status
from drumbeat.testing import drain, inside

from .caller import Caller, House, house


@pytest.fixture
def ours() -> House:
    return house()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


def declare(app: Drumbeat) -> None:
    @app.task(retry=Retry.never())
    async def fail(number: int) -> None:
        raise ValueError(number)


async def test_an_empty_filter_needs_a_word_more(ask: Caller) -> None:
    refused = await ask("POST", "/jobs/cancel", {"filter": {}})
    assert refused.status == 422
    assert "restricts nothing" in refused.data["detail"]
    assert (refused.data["field"], '"all": true' in refused.data["rule"]) == ("filter", True)
    assert (await ask("POST", "/jobs/cancel", {"filter": {}, "all": True})).status == 202


@pytest.mark.parametrize(
    ("verb", "status"), [("retry", "running"), ("retry", "completed"), ("cancel", "failed")]
)
async def test_statuses_that_cannot_be_changed_are_refused(
    ask: Caller, verb: str, status: str
) -> None:
    answer = await ask("POST", f"/jobs/{verb}", {"filter": {"status": [status]}})
    assert answer.status == 422
    assert "status: only" in answer.data["detail"]
    assert answer.data["field"] == "filter.status"


async def test_an_operation_is_looked_at_listed_and_ended(ours: House, ask: Caller) -> None:
    await ours.app.submit(JobSpec("elsewhere"))
    body = {"filter": {"task": "elsewhere"}, "reason": "no need"}
    begun = await ask("POST", "/jobs/cancel", body)
    assert (begun.status, begun.data["status"], begun.data["kind"]) == (202, "queued", "cancel")
    path = begun.headers["location"]
    assert [each["id"] for each in (await ask("GET", "/operations")).data] == [begun.data["id"]]
    assert (await ask("POST", f"{path}/cancel")).data["status"] == "cancelled"
    assert (await ask("POST", f"{path}/cancel")).status == 409
    assert (await ask("GET", "/jobs/1")).data["status"] == "queued"
    assert (await ask("GET", "/operations/1")).kind == "unknown-operation"
    assert (await ask("GET", "/operations/x")).status == 404


async def test_a_dry_run_only_counts(ours: House, ask: Caller) -> None:
    for _ in range(3):
        await ours.app.submit(JobSpec("elsewhere"))
    begun = await ask("POST", "/jobs/cancel", {"filter": {"task": "elsewhere"}, "dry_run": True})
    await drain(ours.app)
    done = (await ask("GET", begun.headers["location"])).data
    assert (done["status"], done["done"], done["total"]) == ("completed", 3, 3)
    assert (await ask("GET", "/jobs/1")).data["status"] == "queued"


async def test_an_operation_never_cancels_another(ours: House, ask: Caller) -> None:
    await ask("POST", "/jobs/cancel", {"filter": {}, "all": True})
    await ask("POST", "/jobs/retry", {"filter": {"task": "elsewhere"}})
    await drain(ours.app)
    assert [each["status"] for each in (await ask("GET", "/operations")).data] == ["completed"] * 2


async def test_what_failed_again_is_not_retried_twice_by_one_operation(
    ours: House, ask: Caller
) -> None:
    declare(ours.app)
    await ask("POST", "/jobs", {"task": "fail", "args": [1]})
    await drain(ours.app)
    await ours.clock.advance("1s")
    begun = await ask("POST", "/jobs/retry", {"filter": {"task": "fail"}})
    await ours.clock.advance("1s")
    await drain(ours.app)
    # Its node died after it had done everything and before it could say so: it is run once more.
    order = (await ours.app.jobs.get(begun.data["id"])).spec.arguments
    (job,) = (await ours.app.jobs.list(JobFilter(task="fail"))).items
    assert (job.status, job.fence) == (Status.FAILED, 2)
    definition = inside.setup(ours.app).registry.get("drumbeat.retry_jobs")
    positional, named = definition.codec.decode(order)
    context = again(await ours.app.jobs.get(begun.data["id"]))
    outcome = await definition.handler(context, *positional, **named)
    assert (outcome.done, outcome.failed) == (0, 0)
    assert (await ours.app.jobs.get(job.id)).status is Status.FAILED


def again(job: Job) -> Context:
    """The context of another attempt at the job."""
    attempt = Attempt(job.hold, 2, job.spec, NodeId("n:1"), job.created_at, job.created_at)
    return Context(attempt, lambda _: None, lambda: None)


serial = count()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def app(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Drumbeat]:
    match request.param:
        case "memory":
            yield Drumbeat("memory://", environment={})
        case "sqlite":
            yield Drumbeat(f"sqlite:///{tmp_path / 'jobs.db'}", environment={})
        case _:
            address = request.getfixturevalue("postgres").address
            namespace = f"operations_{getpid()}_{next(serial)}"
            yield Drumbeat(address, namespace=namespace, environment={})
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f'DROP SCHEMA IF EXISTS "{namespace}" CASCADE'.encode())


@pytest.mark.parametrize("roles", [(Role.SCHEDULER, Role.WORKER), (Role.SCHEDULER,)])
async def test_the_leader_changes_many_jobs_whatever_else_it_does(
    app: Drumbeat, roles: tuple[Role, ...]
) -> None:
    await inside.submitter(app).submit_many([JobSpec("elsewhere", tags=("old",))] * 600)
    other = await app.submit(JobSpec("elsewhere"))
    fleet = inside.measured_fleet(app)
    ask = Caller(Api(fleet, AccessControl(fleet, local=True), TABLE))
    async with app.running(roles):
        begun = await ask("POST", "/jobs/cancel", {"filter": {"tag": "old"}, "reason": "old"})
        assert begun.status == 202, begun.body
        operation = await app.operations.wait(begun.data["id"], 60)
        shown = (await ask("GET", f"/operations/{operation.id}")).data
        left = await app.jobs.list(JobFilter(statuses=frozenset({Status.QUEUED})))
    assert (shown["status"], shown["done"], shown["total"]) == ("completed", 600, 600)
    assert [job.id for job in left.items] == [other.id]
    assert "drumbeat.cancel_jobs" not in app.tasks
