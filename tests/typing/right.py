"""The public API as it is meant to be used. Both type checkers must find nothing here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import assert_type

from drumbeat import (
    Client,
    Context,
    Drumbeat,
    Fail,
    Job,
    Retry,
    Schedule,
    ScheduledTask,
    Snooze,
    Status,
    SyncClient,
    Task,
    bounded,
    cron,
    current,
    daily,
    every,
    rate_limit,
)
from drumbeat.model.events import JobSettled, LeadershipGained, LeadershipLost
from drumbeat.wire.job import JobView

app = Drumbeat("memory://", concurrency=5, lease_ttl="10s", queues=("default", "mail"))


@app.task
async def greet(name: str, times: int = 1) -> str:
    return f"Hello, {name}" * times


@app.task
def add(left: int, right: int) -> int:
    return left + right


@app.task
async def with_context(ctx: Context, number: int) -> list[int]:
    ctx.progress(1, 2, "half")
    ctx.log.info("working", attempt=ctx.number)
    if ctx.cancelled:
        raise Snooze(timedelta(minutes=1))
    await ctx.cancelled.wait()
    assert_type(ctx.tick_at, datetime | None)
    return [number]


@app.task(queue="mail", retry=Retry.backpressure(max_retries=5), timeout=30, priority=5)
async def with_options(ctx: Context, number: int, *, loud: bool = False) -> None: ...


def patience(attempt: int, error: BaseException) -> str | None:
    return None if attempt > 2 else "5s"


app.limit("mail", concurrency=5, on_conflict="wait")
app.limit("door", concurrency=1, on_conflict="skip")


@app.task(
    limits=("mail",),
    aliases=("call_up",),
    rate_limit=rate_limit("10/m", key="{customer}"),
    dedupe_key="call-{customer}",
    retry=Retry.by(patience).on(ConnectionError).never_on(ValueError, KeyError),
)
def call(customer: str) -> None:
    raise Fail("nobody answers")


@app.task(retry=Retry.delays("1s", 10, timedelta(minutes=1)))
async def fetch(url: str) -> None: ...


@app.task(name="in-a-process", process=True, heartbeat="10s", exclusive="x", on_conflict="wait")
def heavy(ctx: Context, path: str) -> dict[str, int]:
    ctx.heartbeat()
    ctx.cancelled.block(1.0)
    return {path: 1}


@app.scheduled(cron("0 2 * * *", tz="Europe/Paris"), misfire="all", overlap="skip")
async def cleanup(ctx: Context) -> None: ...


@app.scheduled("@hourly", args=("Ada",), kwargs={"times": 2}, queue="mail", jitter="5m")
async def remind(name: str, times: int) -> None: ...


class Nightly(ScheduledTask):
    name = "nightly"
    schedule = daily("02:00", tz="Europe/Paris")
    options = {"misfire": "latest", "queue": "mail"}  # noqa: RUF012 - as users write it

    async def execute(self, ctx: Context) -> int:
        return ctx.number


@app.on(JobSettled)
async def settled(event: JobSettled) -> None:
    assert_type(event.status, Status)


@app.leadership.on_gained
def gained(event: LeadershipGained) -> None:
    assert_type(event.epoch, int)


@app.leadership.on_lost
async def lost(event: LeadershipLost) -> None:
    assert_type(event.reason, str)


async def main() -> None:
    job = await greet.submit("Ada")
    assert_type(job, Job)
    assert_type(greet.result(job), str)
    assert_type(await greet.submit("Ada", times=2), Job)
    assert_type(await greet.submit_many([("Ada",), {"name": "Bob"}]), list[Job])
    assert_type(await greet.submit_many([greet.job("Ada"), greet.job("Bob", times=2)]), list[Job])
    assert_type(await greet("Ada", times=2), str)
    assert_type(add(1, right=2), int)
    assert_type(await with_context(current(), 7), list[int])
    assert_type(greet.submit_sync("Ada", 3), Job)

    assert_type(add.result(await add.submit(1, right=2)), int)
    assert_type(with_context.result(await with_context.submit(7)), list[int])
    assert_type(heavy.result(await heavy.submit("x")), dict[str, int])
    await with_options.options(dedupe_key="r-42", delay=60, priority=9).submit(1, loud=True)
    await with_options.options(run_at=datetime(2030, 1, 1, tzinfo=UTC)).submit(number=1)
    urgent = greet.options(priority=9)
    assert_type(urgent.result(await urgent.submit("Ada")), str)

    nightly = app.register(Nightly())
    await nightly.submit()
    assert_type(app.schedule(add, every(minutes=5), name="sum", args=(1, 2)), Schedule)
    await cleanup.submit()
    await remind.submit("Ada", 1)

    async with app.running(["worker"]), app.lock("deploy", ttl="30s", wait=5) as lock:
        assert_type(lock.token, int)
    assert_type(app.leadership.is_leader, bool)
    assert_type(app.leadership.epoch, int | None)
    assert_type(await bounded(greet.submit, ["Ada", "Bob"], limit=2), list[Job])
    assert_type(await app.jobs.wait(job.id, timeout=3.0), Job)
    assert_type(await app.jobs.wait(job, timeout="3s"), Job)
    await app.wait_until_idle("1m")


async def from_elsewhere(client: Client) -> None:
    job = await client.jobs.submit("greet", ["Ada"], priority=9, delay="1h", tags=["vip"])
    assert_type(job, JobView)
    assert_type(await client.jobs.wait(job.id, 3.0), JobView)
    assert_type([each.id async for each in client.jobs.all()], list[int])
    await client.schedules.put("nightly", cron("0 2 * * *"), "greet", misfire="all", window="2h")
    assert_type((await client.health()).status, str)
    async for event in client.events.follow(["job"]):
        assert_type(event.kind, str)


def without_a_loop() -> None:
    with app.in_background(["worker"], wait="5s"):
        job = greet.submit_sync("Ada")
        assert_type(greet.submit_many_sync([greet.job("Ada")]), list[Job])
        assert_type(app.sync.jobs.get(job), Job)
        assert_type(app.sync.jobs.wait(job, timeout="5s"), Job)
        assert_type(app.sync.schedules.preview("nightly", count=3), list[datetime])
        app.sync.schedules.put("sum", "@hourly", add, args=(1, 2), misfire="all", overlap="allow")
        with app.sync.lock("deploy", ttl="30s", wait=5) as lock:
            assert_type(lock.token, int)
            assert_type(lock.held, bool)
        app.sync.config.put("colour", b"red")
        for entry in app.sync.config.watch("colour"):
            assert_type(entry.value if entry else None, bytes | None)
        app.sync.wait_until_idle("1m")
    app.start_in_background()
    app.stop_in_background(grace="10s")


def from_a_script() -> None:
    with SyncClient("http://127.0.0.1:8080", "drum_x", timeout=5) as client:
        job = client.jobs.submit("greet", kwargs={"name": "Ada"}, dedupe_key="k")
        assert_type(job, JobView)
        assert_type(client.jobs.list().items, tuple[JobView, ...])
        assert_type([each.status for each in client.jobs.all()], list[Status])
        client.queues.pause("mail", reason="too much")


def takes_any_task_of_numbers(task: Task[[int, int], int]) -> None: ...
