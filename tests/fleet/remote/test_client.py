"""The client gives what the app gives, and raises what the app raises, over a real port."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from drumbeat import (
    Client,
    Conflict,
    Drumbeat,
    JobFilter,
    NotFound,
    PageRequest,
    Retry,
    Status,
    cron,
)
from drumbeat.engine.plumbing.runtime import SystemClock
from drumbeat.model.errors import (
    InvalidCron,
    InvalidInput,
    InvalidOption,
    JobFailed,
    NoTick,
    OversizedArguments,
    RevisionMismatch,
    TokenNameTaken,
    UnknownJob,
    UnknownKey,
    UnknownNode,
    UnknownOperation,
    UnknownSchedule,
    UnserialisableArguments,
    VersionMismatch,
    WaitTimeout,
    WrongStatus,
)
from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.model.fleet.token import Scope
from drumbeat.model.schedules.policy import Misfire
from drumbeat.rules.schedules.version_guard import VersionGuard
from drumbeat.wire.election import term_view
from drumbeat.wire.new_schedule import NewScheduleView, ScheduleDefinitionView
from drumbeat.wire.schedule import ScheduleView, schedule_view

SOON = 60.0


def decoded(view: ScheduleView) -> ScheduleView:
    """The view as a client decodes it."""
    return msgspec.json.decode(msgspec.json.encode(view), type=ScheduleView)


def hourly() -> str:
    """Every hour, but not within half an hour of now: no tick comes while a test runs."""
    return f"{(SystemClock().now() + timedelta(minutes=30)).minute} * * * *"


async def test_a_job_is_submitted_waited_for_and_its_result_read(client: Client) -> None:
    job = await client.jobs.submit("greet", kwargs={"name": "Anna"}, queue="default", priority=5)
    assert (job.task, job.priority, job.arguments) == ("greet", 5, {"name": "Anna"})
    assert await client.jobs.result(job.id, SOON) == "Hello, Anna!"
    done = await client.jobs.get(job.id)
    assert (done.status, done.result) == (Status.COMPLETED, "Hello, Anna!")


async def test_a_job_is_the_same_as_the_app_has_it(app: Drumbeat, client: Client) -> None:
    job = await client.jobs.submit(
        "greet",
        ["Anna"],
        delay="1h",
        tags=["vip"],
        dedupe_key="k",
        dedupe_for="2h",
        dedupe_scope="orders",
        timeout=30,
        retry=Retry.delays(5, "2.5s"),
        expires="10m",
    )
    stored = await app.jobs.get(job.id)
    again = await client.jobs.get(job.id)
    assert again == job
    assert (again.id, again.status, again.run_at, again.created_at) == (
        *(stored.id, Status.PENDING, stored.run_at, stored.created_at),
    )
    assert (again.tags, again.dedupe_key) == (("vip",), "k")
    assert (stored.spec.timeout, stored.spec.retry) == (30, Retry.delays(5, 2.5))
    assert stored.spec.dedupe_for == timedelta(hours=2)
    assert stored.spec.dedupe_scope == "orders"
    assert stored.spec.expires == timedelta(minutes=10)
    assert again.expires_at == stored.run_at + timedelta(minutes=10)
    shared = await client.jobs.submit("other", dedupe_key="k", dedupe_scope="orders")
    assert shared.id == job.id
    assert (await client.jobs.submit("greet", dedupe_key="k")).id != job.id


async def test_many_jobs_are_submitted_at_once_and_listed_page_by_page(client: Client) -> None:
    calls: list[Sequence[str] | Mapping[str, str]] = [["a"], {"name": "b"}, ()]
    jobs = await client.jobs.submit_many("greet", calls, delay="1h", tags=("many",))
    assert [job.arguments for job in jobs[:2]] == [{"name": "a"}, {"name": "b"}]
    wanted = JobFilter(tag="many", statuses=frozenset({Status.PENDING, Status.FAILED}))
    page = await client.jobs.list(wanted, PageRequest(2))
    assert [job.id for job in page.items] == [jobs[2].id, jobs[1].id]
    rest = await client.jobs.list(wanted, PageRequest(2, page.next))
    assert ([job.id for job in rest.items], rest.next) == ([jobs[0].id], None)
    assert [job.id async for job in client.jobs.all(wanted)] == [3, 2, 1]
    since = JobFilter(created_from=datetime(2100, 1, 1, tzinfo=UTC))
    assert (await client.jobs.list(since)).items == ()


async def test_a_job_that_fails_says_so_and_can_be_retried(client: Client) -> None:
    job = await client.jobs.submit("fail")
    with pytest.raises(JobFailed, match="no such customer") as failed:
        await client.jobs.result(job.id, SOON)
    assert (failed.value.job_id, failed.value.status) == (job.id, Status.FAILED)
    (attempt,) = await client.jobs.attempts(job.id)
    assert attempt.error is not None
    assert "no such customer" in attempt.error
    with pytest.raises(WrongStatus, match="is failed"):
        await client.jobs.cancel(job.id)
    assert (await client.jobs.retry(job.id, "again")).status is not Status.FAILED


async def test_a_waiting_job_is_cancelled_and_cannot_be_cancelled_again(client: Client) -> None:
    job = await client.jobs.submit("greet", delay="1h")
    counts = (await client.jobs.counts())["default"]
    assert {status: count for status, count in counts.items() if count} == {Status.PENDING: 1}
    assert (await client.jobs.cancel(job.id, "wrong")).status is Status.CANCELLED
    with pytest.raises(WrongStatus, match="is cancelled"):
        await client.jobs.cancel(job.id)
    (entry, *_) = (await client.audit.list(AuditFilter(action="job.cancel"))).items[1:]
    assert (entry.reason, entry.outcome) == ("wrong", "done")


async def test_waiting_ends_in_time(client: Client) -> None:
    job = await client.jobs.submit("greet", delay="1h")
    with pytest.raises(WaitTimeout, match=f"job {job.id} did not finish within 0.1 s"):
        await client.jobs.wait(job.id, 0.1)


async def test_errors_are_those_of_the_app(client: Client) -> None:
    with pytest.raises(UnknownJob) as unknown:
        await client.jobs.get(99)
    assert unknown.value.job_id == 99
    with pytest.raises(UnknownJob):
        await client.jobs.retry(99)
    with pytest.raises(UnknownSchedule) as missing:
        await client.schedules.get("no/such schedule")
    assert missing.value.name == "no/such schedule"
    with pytest.raises(InvalidCron, match="minute") as bad:
        await client.schedules.put("x", "61 * * * *", "greet")
    assert bad.value.allowed
    with pytest.raises(InvalidInput, match="nome"):
        await client.jobs.submit("greet", kwargs={"nome": "Anna"})
    with pytest.raises(InvalidInput, match="priority"):
        await client.jobs.submit("greet", priority=101)
    with pytest.raises(InvalidOption, match="unknown option 'prioritty'"):
        await client.jobs.submit("greet", prioritty=1)  # type: ignore[call-arg]
    with pytest.raises(UnserialisableArguments):
        await client.jobs.submit("greet", kwargs={"name": object()})
    with pytest.raises(OversizedArguments) as large:
        await client.jobs.submit("greet", kwargs={"name": "x" * 300_000})
    assert large.value.size > 300_000
    with pytest.raises(InvalidInput, match="in order or by name"):
        await client.jobs.submit("greet", ["a"], {"name": "b"})


async def test_secrets_are_not_shown(client: Client) -> None:
    kwargs = {"user": "anna", "password": "swordfish"}
    job = await client.jobs.submit("log_in", kwargs=kwargs, delay="1h")
    assert job.arguments == {"user": "anna", "password": "[redacted]"}


async def test_a_schedule_is_the_same_as_the_app_has_it(app: Drumbeat, client: Client) -> None:
    name = "billing/nightly ü"
    put = await client.schedules.put(
        name,
        cron("30 2 * * *", tz="Europe/Paris"),
        "greet",
        kwargs={"name": "Anna"},
        description="every night",
        misfire="all",
        window="2h",
        queue="mail",
        max_runs=5,
    )
    stored = await app.schedules.get(name)
    assert put == decoded(schedule_view(stored))
    assert stored.schedule.policies.window == timedelta(hours=2)
    assert stored.schedule.policies.misfire is Misfire.ALL
    assert await client.schedules.get(name) == put
    assert [each.name for each in (await client.schedules.list(prefix="billing")).items] == [name]
    assert [each.name async for each in client.schedules.all()] == [name]


async def test_a_name_may_hold_any_character(client: Client) -> None:
    for name in (".", "..", "a/b", "a%2Fb", "a?b#c", " ", "é\u2028", "jobs/../x"):
        assert (await client.schedules.put(name, "0 * * * *", "greet")).name == name
        assert (await client.schedules.get(name)).name == name
        assert (await client.schedules.pause(name)).paused
        await client.schedules.remove(name)
        with pytest.raises(UnknownSchedule):
            await client.schedules.get(name)


async def test_a_schedule_is_changed_only_at_its_version(client: Client) -> None:
    stored = await client.schedules.put("nightly", "0 2 * * *", "greet")
    await client.schedules.pause("nightly")
    seen = client.schedules.at_version(stored.version)
    for change in (
        seen.put("nightly", "0 3 * * *", "greet"),
        seen.resume("nightly"),
        seen.trigger("nightly"),
        seen.remove("nightly"),
    ):
        with pytest.raises(VersionMismatch, match="is at version 2") as refused:
            await change
        assert (refused.value.schedule, refused.value.version) == ("nightly", 2)
    assert not (await client.schedules.at_version(2).resume("nightly")).paused
    await client.schedules.at_version(3).remove("nightly")


async def test_only_the_given_parts_of_a_schedule_are_edited(client: Client) -> None:
    stored = await client.schedules.put(
        "nightly", "0 2 * * *", "greet", kwargs={"name": "Anna"}, window="2h", queue="mail"
    )
    changed = await client.schedules.edit("nightly", when="0 3 * * *", jitter="5s")
    assert changed.trigger != stored.trigger
    assert (changed.policies.jitter, changed.policies.window) == (5.0, 7200.0)
    assert (changed.queue, changed.arguments) == ("mail", {"name": "Anna"})
    again = await client.schedules.edit("nightly", kwargs={"name": "Bob"}, description="nights")
    assert (again.arguments, again.description) == ({"name": "Bob"}, "nights")
    with pytest.raises(VersionMismatch):
        await client.schedules.at_version(stored.version).edit("nightly", queue="slow")
    handed = await client.schedules.hand_back("nightly", "by code again")
    assert handed.origin == "code"


async def test_a_schedule_is_created_once_and_replaced_under_a_guard(client: Client) -> None:
    new = NewScheduleView(name="nightly", task="greet", when="0 2 * * *")
    assert (await client.schedules.create(new)).name == "nightly"
    with pytest.raises(Conflict, match="already"):
        await client.schedules.create(new)
    definition = ScheduleDefinitionView(task="greet", when="0 3 * * *")
    absent = VersionGuard(must_be_absent=True)
    with pytest.raises(VersionMismatch):
        await client.schedules.replace("nightly", definition, guard=absent)
    assert (await client.schedules.replace("weekly", definition, guard=absent)).is_new
    existing = VersionGuard(must_exist=True)
    assert not (await client.schedules.replace("weekly", definition, guard=existing)).is_new
    preview = await client.schedules.preview_rule("0 3 * * *", "Europe/Paris", 2)
    assert (len(preview.next), preview.tz) == (2, "Europe/Paris")


async def test_a_schedule_is_paused_resumed_skipped_and_removed(client: Client) -> None:
    await client.schedules.put("hourly", hourly(), "greet")
    paused = await client.schedules.pause("hourly", "the disk is full")
    assert (paused.paused, paused.pause_reason) == (True, "the disk is full")
    assert not (await client.schedules.resume("hourly")).paused
    first, second = (await client.schedules.preview("hourly", 2)).next
    assert (await client.schedules.skip("hourly", first)).skips == (first,)
    assert (await client.schedules.preview("hourly", 1)).next == (second,)
    assert (await client.schedules.unskip("hourly", first)).skips == ()
    assert (await client.schedules.skip("hourly")).skips == (first,)
    assert (await client.schedules.unskip("hourly")).skips == ()
    with pytest.raises(NoTick):
        await client.schedules.unskip("hourly")
    await client.schedules.remove("hourly")
    with pytest.raises(UnknownSchedule):
        await client.schedules.remove("hourly")


async def test_a_schedule_is_triggered_with_other_arguments(client: Client) -> None:
    await client.schedules.put("hourly", hourly(), "greet")
    job = await client.schedules.trigger("hourly", {"name": "Anna"})
    assert await client.jobs.result(job.id, SOON) == "Hello, Anna!"
    again = await client.schedules.trigger("hourly")
    assert await client.jobs.result(again.id, SOON) == "Hello, world!"


async def test_past_ticks_are_backfilled_once(client: Client) -> None:
    await client.schedules.put("hourly", hourly(), "greet")
    created = (await client.schedules.get("hourly")).created_at
    start = created - timedelta(hours=3)
    found = await client.schedules.backfill("hourly", start, created, dry_run=True)
    assert [each.outcome for each in found] == ["would fire"] * 3
    fired = await client.schedules.backfill("hourly", start)
    assert [each.outcome for each in fired] == ["fired"] * 3
    again = await client.schedules.backfill("hourly", start)
    assert [each.outcome for each in again] == ["had fired before"] * 3
    ticks = await client.schedules.ticks("hourly", PageRequest(2))
    assert [tick.backfilled for tick in ticks.items] == [True, True]
    assert ticks.next is not None


async def test_a_schedule_is_explained(client: Client) -> None:
    await client.schedules.put("hourly", "0 * * * *", "greet")
    explained = await client.schedules.explain("hourly", tz="Europe/Paris")
    assert explained.explanation[0] == "hourly runs greet: every hour (UTC)."
    assert len(explained.next) == 3


async def test_queues_are_listed_paused_and_resumed(client: Client) -> None:
    paused = (await client.queues.pause("mail", "the server is down")).paused
    assert paused is not None
    assert paused.reason == "the server is down"
    await client.jobs.submit("greet", queue="mail")
    (mail,) = await client.queues.list()
    assert (mail.name, mail.counts[Status.QUEUED], mail.paused) == ("mail", 1, paused)
    assert (await client.queues.get("mail")).counts == mail.counts
    assert (await client.queues.resume("mail", "it is back")).paused is None
    assert (await client.queues.resume("mail")).paused is None
    with pytest.raises(NotFound):
        await client.queues.get("elsewhere")


async def test_nodes_and_the_leader_are_those_of_the_app(app: Drumbeat, client: Client) -> None:
    async def leads() -> None:
        while not (await client.elections.history()).items:  # appointed, and known to the store
            pass

    await asyncio.wait_for(leads(), SOON)
    lease = await app.leadership.leader()
    assert lease is not None
    election = await client.elections.get()
    assert (election.leader, election.token) == (lease.holder, lease.token)
    assert [each.name for each in await client.elections.list()] == ["scheduler"]
    (node,) = await client.nodes.list()
    assert (node.id, node.leader) == (app.id, True)
    assert (await client.nodes.get(app.id)).id == app.id
    term = (await client.elections.history()).items[0]
    assert term == term_view((await app.store.fence.history("scheduler", PageRequest())).items[0])
    with pytest.raises(UnknownNode, match="'nobody'") as unknown:
        await client.nodes.drain("nobody")
    assert unknown.value.name == "nobody"
    async with asyncio.timeout(SOON):
        # Not while the machine is so busy that the store does not answer within a second.
        while (health := await client.health()).status != "healthy":
            pass
    assert health.instance_id == "server"
    assert [task.name for task in await client.tasks()] == ["fail", "greet", "log_in"]
    assert (await client.settings())["instance_id"].value == "server"


async def test_many_jobs_are_changed_in_the_background(client: Client) -> None:
    await client.jobs.submit_many("greet", [["a"], ["b"]], delay="1h", tags=("many",))
    with pytest.raises(InvalidInput, match="restricts nothing"):
        await client.operations.retry_jobs(JobFilter())
    begun = await client.operations.cancel_jobs(JobFilter(tag="many"), "not needed")
    ended = await client.operations.wait(begun.id, SOON)
    assert (ended.status, ended.done, ended.reason) == (Status.COMPLETED, 2, "not needed")
    assert (await client.operations.list()).items == (ended,)
    with pytest.raises(WrongStatus, match="completed already"):
        await client.operations.cancel(ended.id)
    with pytest.raises(UnknownOperation) as unknown:
        await client.operations.wait(10**6)
    assert unknown.value.operation_id == 10**6


async def test_shared_values_are_compared_and_set(client: Client) -> None:
    values = client.configuration
    with pytest.raises(UnknownKey):
        await values.get("colour")
    first = await values.put("colour", "red", revision=0)
    assert await values.get("colour") == first
    with pytest.raises(RevisionMismatch) as taken:
        await values.put("colour", "blue", revision=0)
    assert (taken.value.key, taken.value.revision) == ("colour", 0)
    second = await values.put("colour", {"name": "blue"}, revision=first.revision)
    assert second.value == {"name": "blue"}
    with pytest.raises(RevisionMismatch) as stale:
        await values.delete("colour", revision=first.revision)
    assert (stale.value.key, stale.value.revision) == ("colour", first.revision)
    await values.delete("colour", revision=second.revision)
    with pytest.raises(UnknownKey):
        await values.delete("colour")
    with pytest.raises(UnserialisableArguments, match="cannot be written as JSON"):
        await values.put("colour", object())


async def test_a_token_is_made_and_its_name_is_taken(client: Client) -> None:
    made = await client.tokens.create("ci", Scope.ADMIN)
    assert made.token.startswith("drum_")
    assert made.token not in repr(made)
    async with Client(client.url, made.token) as admitted:
        with pytest.raises(TokenNameTaken, match="'ci' is in use") as taken:
            await admitted.tokens.create("ci")
        assert taken.value.name == "ci"
        (record,) = await admitted.tokens.list()
        assert (record.name, record.scope) == ("ci", Scope.ADMIN)
        assert (await admitted.tokens.revoke("ci")).revoked_at is not None


async def test_a_client_says_why_it_changes_things(app: Drumbeat) -> None:
    async with Client(f"http://{app.addresses[0]}", reason="the nightly\nclean-up") as client:
        await client.configuration.put("colour", "blue")
        await client.queues.pause("mail", "its own reason")
        await client.configuration.delete("colour", reason="no longer needed")
        await client.schedules.put("nightly", "0 2 * * *", "greet", reason="asked for")
        await client.schedules.edit("nightly", queue="slow", reason="too slow")
        await client.schedules.remove("nightly", "not needed")
        reasons = [entry.reason for entry in (await client.audit.list()).items]
    assert reasons == [
        "not needed",
        "too slow",
        "asked for",
        "no longer needed",
        "its own reason",
        "the nightly clean-up",
    ]
