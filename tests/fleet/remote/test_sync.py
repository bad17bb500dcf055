"""The client without `await`."""

from __future__ import annotations

import asyncio
import inspect
import threading

import pytest

from drumbeat import Client, Drumbeat, JobFilter, SyncClient, cron
from drumbeat.model.errors import NotRunning, UnknownJob

SOON = 60.0


def script(url: str) -> list[str]:
    with SyncClient(url) as client:
        job = client.jobs.submit("greet", kwargs={"name": "Anna"})
        said = [str(client.jobs.result(job.id, SOON))]
        many = client.jobs.submit_many("greet", [["a"], ["b"]], delay="1h", tags=["many"])
        found = [each.id for each in client.jobs.all(JobFilter(tag="many"))]
        said.append(f"found {found == [many[1].id, many[0].id]}")
        stored = client.schedules.put("nightly", cron("0 2 * * *"), "greet", misfire="all")
        said.append(stored.name)
        paused = client.schedules.at_version(stored.version).pause("nightly")
        said.append(f"at version {paused.version}")
        while client.health().status != "healthy":  # the store has a second for its answer
            pass
        try:
            client.jobs.get(10**9)
        except UnknownJob as error:
            said.append(f"unknown {error.job_id}")
        for event in client.events.follow(["job"]):
            said.append(event.kind)
            break
        return said


async def test_a_script_asks_without_a_loop(app: Drumbeat) -> None:
    running = asyncio.create_task(asyncio.to_thread(script, f"http://{app.addresses[0]}"))
    while not running.done():  # there has to be an event to hear of
        await app.jobs.submit("greet")
        await asyncio.wait([running], timeout=0.5)
    assert await running == [
        "Hello, Anna!",
        "found True",
        "nightly",
        "at version 2",
        f"unknown {10**9}",
        "job",
    ]
    assert "drumbeat-client" not in {thread.name for thread in threading.enumerate()}


def closed_twice(url: str) -> None:
    client = SyncClient(url)
    jobs = client.jobs.all()
    next(jobs)
    client.close()
    client.close()
    with pytest.raises(NotRunning, match="closed"):
        next(jobs)
    with pytest.raises(NotRunning, match="closed"):
        client.nodes.list()


async def test_a_closed_client_says_so_and_leaves_no_thread(app: Drumbeat) -> None:
    await app.jobs.submit("greet")
    await asyncio.to_thread(closed_twice, f"http://{app.addresses[0]}")
    assert "drumbeat-client" not in {thread.name for thread in threading.enumerate()}


async def test_a_loop_is_not_blocked_by_a_synchronous_call(app: Drumbeat) -> None:
    client = SyncClient(f"http://{app.addresses[0]}")
    with pytest.raises(NotRunning, match="use Client"):
        client.nodes.list()


def test_both_clients_have_the_same_calls() -> None:
    there, here = Client("http://localhost"), SyncClient("http://localhost")
    nouns = [name for name in vars(there) if not name.startswith("_")]
    assert nouns
    for noun in nouns:
        assert calls(getattr(here, noun)) == calls(getattr(there, noun)), noun
    assert calls(here) == calls(there)


def calls(thing: object) -> set[str]:
    return {name for name, _ in inspect.getmembers(thing, callable) if not name.startswith("_")}
