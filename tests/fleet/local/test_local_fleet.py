"""A local fleet checks, records and makes changes, whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
from msgspec.json import encode

from drumbeat import Drumbeat, InvalidInput, NotFound
from drumbeat.fleet.actor import Actor
from drumbeat.fleet.local.fleet import LocalFleet
from drumbeat.model.errors import (
    NobodyLeads,
    OversizedArguments,
    RevisionMismatch,
    TokenNameTaken,
    VersionMismatch,
    WrongStatus,
)
from drumbeat.model.fleet.token import Scope
from drumbeat.model.jobs.job import LEADER_QUEUE, JobFilter, Status
from drumbeat.rules.schedules.version_guard import VersionGuard
from drumbeat.testing import FakeClock, FakeRuntime
from drumbeat.wire.event import EventKind, FleetEvent
from drumbeat.wire.new_job import NewJobView
from drumbeat.wire.new_schedule import NewScheduleView, ScheduleChangesView
from drumbeat.wire.requests import request

SOON = 60.0
ANNA = Actor("anna (terminal)", "the disk is full")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def fleet(clock: FakeClock) -> AsyncGenerator[LocalFleet]:
    app = Drumbeat("memory://", runtime=FakeRuntime(clock), environment={})

    @app.task
    async def greet(name: str = "world") -> str:
        return f"Hello, {name}!"

    async with app.connected():
        yield app.fleet.acting_as(ANNA)


async def outcomes(fleet: LocalFleet) -> list[tuple[str, str, str, str | None]]:
    """Action, target, reason and outcome of each change, the oldest first."""
    entries = (await fleet.audit.list()).items
    return [(each.action, each.target, each.reason, each.outcome) for each in reversed(entries)]


async def test_a_job_is_created_and_found_by_its_dedupe_key(fleet: LocalFleet) -> None:
    new = request(NewJobView, {"task": "greet", "args": {"name": "Anna"}, "dedupe_key": "once"})
    first, again = await fleet.jobs.create(new), await fleet.jobs.create(new)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.view == await fleet.jobs.get(first.view.id)


@pytest.mark.parametrize(
    ("given", "error", "parameter"),
    [
        ({"task": "drumbeat.retry_jobs"}, InvalidInput, "task"),
        ({"task": "elsewhere", "args": {"x": "y" * 300_000}}, OversizedArguments, "args"),
        ({"task": "greet", "queue": LEADER_QUEUE}, InvalidInput, "queue"),
        ({"task": "greet", "args": {"nobody": 1}}, InvalidInput, "args"),
        ({"task": "greet", "priority": 101}, InvalidInput, "priority"),
        ({"task": "greet", "queue": "x" * 201}, InvalidInput, "queue"),
        ({"task": "greet", "dedupe_key": "x", "dedupe_for": 1e9}, InvalidInput, "dedupe_for"),
        ({}, InvalidInput, "task"),
    ],
)
async def test_what_the_api_rejects_is_rejected_here(
    fleet: LocalFleet, given: dict[str, object], error: type[InvalidInput], parameter: str
) -> None:
    with pytest.raises(error) as caught:
        await fleet.jobs.create(request(NewJobView, given))
    assert caught.value.parameter == parameter
    assert (await fleet.jobs.list()).items == ()


async def test_of_many_jobs_the_error_names_the_one_at_fault(fleet: LocalFleet) -> None:
    jobs = [NewJobView(task="greet"), NewJobView(task="greet", args={"nobody": 1})]
    with pytest.raises(InvalidInput, match=r"^jobs\[1\]: ") as caught:
        await fleet.jobs.create_many(jobs)
    assert caught.value.parameter == "jobs[1].args"
    assert (await fleet.jobs.list()).items == ()


async def test_a_change_is_recorded_with_its_outcome(fleet: LocalFleet) -> None:
    job = (await fleet.jobs.create(NewJobView(task="greet"))).view
    assert (await fleet.jobs.cancel(job.id, "not wanted")).status is Status.CANCELLED
    with pytest.raises(WrongStatus) as caught:
        await fleet.jobs.cancel(job.id)
    assert caught.value.status == Status.CANCELLED
    with pytest.raises(NotFound):
        await fleet.schedules.pause("nothing")
    with pytest.raises(NobodyLeads):
        await fleet.elections.resign()
    assert await outcomes(fleet) == [
        ("job.cancel", str(job.id), "not wanted", "done"),
        ("job.cancel", str(job.id), "the disk is full", "status"),
        ("schedule.pause", "nothing", "the disk is full", "unknown-schedule"),
        ("election.resign", "scheduler", "the disk is full", "nobody-leads"),
    ]
    assert {entry.actor for entry in (await fleet.audit.list()).items} == {"anna (terminal)"}


async def test_a_dry_run_is_not_recorded(fleet: LocalFleet) -> None:
    wanted = JobFilter(task="greet")
    assert (await fleet.operations.cancel_jobs(wanted, dry_run=True)).dry_run
    assert await outcomes(fleet) == []
    await fleet.operations.cancel_jobs(wanted)
    with pytest.raises(InvalidInput, match="every job would be meant"):
        await fleet.operations.retry_jobs(JobFilter())
    assert [outcome for *_, outcome in await outcomes(fleet)] == ["done", "invalid-input"]


async def test_a_patch_changes_only_what_is_given(fleet: LocalFleet) -> None:
    new = NewScheduleView(name="beat", task="greet", when="0 2 * * *", description="old")
    before = await fleet.schedules.create(new)
    after = await fleet.schedules.patch("beat", ScheduleChangesView(description="new"))
    assert (after.description, after.when, after.task) == ("new", before.when, before.task)
    stale = VersionGuard(frozenset({before.version}))
    with pytest.raises(VersionMismatch) as caught:
        await fleet.schedules.pause("beat", guard=stale)
    assert caught.value.version == after.version
    assert not (await fleet.schedules.get("beat")).paused


async def test_an_instant_out_of_range_is_rejected(fleet: LocalFleet) -> None:
    await fleet.schedules.create(NewScheduleView(name="beat", task="greet", when="0 2 * * *"))
    with pytest.raises(InvalidInput, match="tick_at must lie between"):
        await fleet.schedules.skip("beat", datetime(9999, 1, 1, tzinfo=UTC))


async def test_a_token_name_is_taken_once(fleet: LocalFleet) -> None:
    made = await fleet.tokens.create("ci", Scope.VIEWER)
    with pytest.raises(TokenNameTaken):
        await fleet.tokens.create("ci", Scope.ADMIN)
    assert [each.id for each in await fleet.tokens.list()] == [made.id]
    assert (await fleet.tokens.revoke("ci")).revoked_at is not None


async def test_a_shared_value_is_guarded_by_its_revision(fleet: LocalFleet) -> None:
    first = await fleet.configuration.put("mode", {"a": 1}, revision=0)
    with pytest.raises(RevisionMismatch):
        await fleet.configuration.put("mode", {"a": 2}, revision=0)
    await fleet.configuration.delete("mode", revision=first.revision)
    with pytest.raises(NotFound):
        await fleet.configuration.get("mode")


async def test_events_are_followed(fleet: LocalFleet, clock: FakeClock) -> None:
    events = fleet.events.follow([EventKind.JOB])
    seen: list[FleetEvent] = []

    async def follow() -> None:
        async for event in events:
            seen.append(event)
            return

    following = asyncio.create_task(follow())
    await clock.advance(3)
    job = (await fleet.jobs.create(NewJobView(task="greet"))).view
    await clock.advance(3)
    await asyncio.wait_for(following, SOON)
    await events.aclose()
    (event,) = seen
    assert (event.kind, encode(event.about)) == ("job", encode(job))
