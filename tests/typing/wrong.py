"""Mistakes with the public API. Both type checkers must find each marked line, and no other."""

from __future__ import annotations

from drumbeat import (
    Client,
    Context,
    Drumbeat,
    Job,
    Retry,
    ScheduledTask,
    SyncClient,
    cron,
    every,
)
from drumbeat.model.events import LeadershipGained

app = Drumbeat("memory://", concurrency=5)
Drumbeat("memory://", concurrency="many")  # wrong
Drumbeat("memory://", concurency=5)  # wrong


@app.task
async def greet(name: str, times: int = 1) -> str:
    return f"Hello, {name}" * times


@app.task
def add(left: int, right: int) -> int:
    return left + right


@app.task
async def with_context(ctx: Context, number: int) -> list[int]:
    return [number]


@app.task(queue="mail", timeout=30)
async def with_options(ctx: Context, number: int, *, loud: bool = False) -> None: ...


@app.scheduled(cron("0 2 * * *"))
async def cleanup(ctx: Context) -> None: ...


app.task(queue=7)  # wrong
app.task(quue="mail")  # wrong
app.task(retry=3)  # wrong
app.task("greet")  # wrong
app.scheduled(60)  # wrong
app.scheduled(every(minutes=1), missfire="all")  # wrong
app.scheduled(every(minutes=1), misfire="al")  # wrong
app.scheduled(every(minutes=1), overlap="queue")  # wrong
app.task(on_conflict="queue")  # wrong
cron("0 2 * * *", dst_gap="never")  # wrong
app.schedule("greet", every(minutes=1))  # wrong
app.register(cleanup)  # wrong
app.lock(7)  # wrong


class Unfinished(ScheduledTask):
    name = "unfinished"
    schedule = "0 2 * * *"


app.register(Unfinished())  # wrong


def heard(event: LeadershipGained) -> None: ...


app.leadership.on_lost(heard)  # wrong


async def main(ctx: Context, job: Job) -> None:
    await greet.submit()  # wrong
    await greet.submit(7)  # wrong
    await greet.submit("Ada", "twice")  # wrong
    await greet.submit("Ada", tmies=2)  # wrong
    greet.submit_sync("Ada", 1, 2)  # wrong
    await add.submit(1)  # wrong
    await with_context.submit(ctx, 7)  # wrong
    await with_context.submit("seven")  # wrong
    await with_options.submit(1, True)  # wrong
    await with_options.options(priority="high").submit(1)  # wrong
    await with_options.options(priority=9).submit("one")  # wrong
    await cleanup.submit(1)  # wrong
    number: int = greet.result(job)  # wrong
    text: str = add.result(job)  # wrong
    add(number, len(text))
    await greet(7)  # wrong
    add(1)  # wrong
    await with_context(7)  # wrong
    await greet.submit_many([add.job("one", 2)])  # wrong
    app.sync.jobs.result("seven")  # wrong
    app.sync.lock(7)  # wrong
    Retry.linear("three")  # wrong
    ctx.attempt_number.bit_length()  # wrong


async def from_elsewhere(client: Client, script: SyncClient) -> None:
    await client.jobs.submit(7)  # wrong
    await client.jobs.submit("greet", prioritty=9)  # wrong
    await client.schedules.put("nightly", 60, "greet")  # wrong
    script.jobs.submit("greet", priority="high")  # wrong
    number: int = script.jobs.get(1)  # wrong
    script.queues.pause(number, 1)  # wrong
