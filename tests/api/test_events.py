"""The stream of events: what it tells, how it is taken up again, and when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drumbeat.fleet.local.events.feed import KEPT, KEPT_BYTES, MOST_STREAMS, MOST_WAITING
from drumbeat.model.errors import Unavailable
from drumbeat.model.events import NodeStopped
from drumbeat.model.fleet.token import Scope
from drumbeat.model.jobs.job import JobSpec
from drumbeat.testing import drain, inside
from drumbeat.wire.event import EventKind

from .caller import Caller, House, house
from .listener import Listener, feed_of, opened


@pytest.fixture
async def ours() -> AsyncIterator[House]:
    made = house()
    yield made
    feed_of(made).close()


async def test_a_job_is_told_of_until_it_is_finished(ours: House) -> None:
    listener = await opened(ours)
    await ours.app.submit(JobSpec("greet"))
    await listener.settled()
    await drain(ours.app)
    await listener.settled()
    assert [(job["id"], job["status"]) for job in listener.of("job")] == [
        (1, "queued"),
        (1, "completed"),
    ]


async def test_what_was_before_is_not_told_but_its_end_is(ours: House) -> None:
    await ours.app.submit(JobSpec("greet"))
    listener = await opened(ours)
    assert [kind for kind, _ in listener.events] == ["ready"]
    await drain(ours.app)
    await listener.settled()
    assert [job["status"] for job in listener.of("job")] == ["completed"]


async def test_secret_arguments_are_not_told(ours: House) -> None:
    @ours.app.task(secret=("password",))
    async def login(password: str) -> None: ...

    listener = await opened(ours)
    await login.submit("hunter2")
    await listener.settled()
    assert listener.of("job")
    assert b"hunter2" not in listener.text


async def test_changes_through_the_api_are_told(ours: House) -> None:
    listener = await opened(ours)
    ask = ours.caller()
    await ask("PUT", "/schedules/beat", {"task": "greet", "when": "@hourly"})
    await ask("POST", "/queues/default/pause", {"reason": "too much"})
    await listener.settled("6s")
    assert listener.of("schedule") == [{"schedule": "beat", "change": "put", "reason": ""}]
    assert [entry["action"] for entry in listener.of("audit")] == ["schedule.put", "queue.pause"]
    assert [queue["paused"]["reason"] for queue in listener.of("queue")] == ["too much"]


async def test_only_the_wanted_kinds_are_told(ours: House) -> None:
    listener = await opened(ours, "/events?kinds=queue,leader")
    await ours.app.submit(JobSpec("greet"))
    await listener.settled("6s")
    assert {kind for kind, _ in listener.events} == {"ready", "queue"}
    answer = await ours.caller()("GET", "/events?kinds=weather")
    assert answer.status == 422


async def test_a_stream_goes_on_after_the_last_event_that_was_seen(ours: House) -> None:
    first = await opened(ours)
    await ours.app.submit(JobSpec("a"))
    await first.settled()
    seen = first.last
    first.leaves.set()
    await first.ended()
    await ours.app.submit(JobSpec("b"))
    await first.settled()
    again = await opened(ours, last=seen)
    assert [job["task"] for job in again.of("job")] == ["b"]
    assert not again.of("ready")
    by_query = await opened(ours, f"/events?last_event_id={seen}")
    assert [job["task"] for job in by_query.of("job")] == ["b"]


@pytest.mark.parametrize("last", ["elsewhere-1", "nonsense", "-", "{name}-99", "{name}-x"])
async def test_a_stream_that_cannot_go_on_says_so(ours: House, last: str) -> None:
    first = await opened(ours)
    name = first.last.rpartition("-")[0]
    for number in range(3):
        feed_of(ours).publish(EventKind.JOB, number)
    again = await opened(ours, "/events", last.format(name=name))
    assert [kind for kind, _ in again.events] == ["reset"]


async def test_what_is_no_longer_kept_cannot_be_taken_up_again(ours: House) -> None:
    first = await opened(ours)
    seen = first.last
    first.leaves.set()
    await first.ended()
    for number in range(KEPT + 1):
        feed_of(ours).publish(EventKind.JOB, number)
    assert [kind for kind, _ in (await opened(ours, last=seen)).events] == ["reset"]


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (0, ["reset"]),
        (1, ["reset"]),  # event 2 is no longer kept
        (2, ["job", "job", "job"]),
        (4, ["job"]),
        (5, []),
    ],
)
async def test_a_stream_resumes_only_if_the_ring_keeps_all_that_it_missed(
    ours: House, monkeypatch: pytest.MonkeyPatch, seen: int, told: list[str]
) -> None:
    monkeypatch.setattr("drumbeat.fleet.local.events.feed.KEPT", 3)
    name = (await opened(ours)).last.rpartition("-")[0]
    for number in range(5):
        feed_of(ours).publish(EventKind.JOB, number)
    again = await opened(ours, last=f"{name}-{seen}")
    assert [kind for kind, _ in again.events] == told


async def test_a_stream_that_missed_a_dropped_large_event_is_reset(ours: House) -> None:
    """The ring drops by bytes too: few events are missed then, and few of them are kept."""
    first = await opened(ours)
    seen = first.last
    first.leaves.set()
    await first.ended()
    for data in ("x" * KEPT_BYTES, 1):
        feed_of(ours).publish(EventKind.JOB, data)
    assert [kind for kind, _ in (await opened(ours, last=seen)).events] == ["reset"]


@pytest.mark.parametrize(
    ("missed", "told"),
    [
        (MOST_WAITING - 1, ["job"] * (MOST_WAITING - 1)),
        (MOST_WAITING, ["reset"]),
        (MOST_WAITING + 1, ["reset"]),
        (2 * MOST_WAITING, ["reset"]),
    ],
)
async def test_a_stream_that_missed_more_than_may_wait_is_reset_and_goes_on(
    ours: House, missed: int, told: list[str]
) -> None:
    first = await opened(ours)
    seen = first.last
    first.leaves.set()
    await first.ended()
    for number in range(missed):
        feed_of(ours).publish(EventKind.JOB, number)
    again = await opened(ours, last=seen)
    assert [kind for kind, _ in again.events] == told
    feed_of(ours).publish(EventKind.JOB, "next")
    await again.settled()
    assert again.of("job")[-1] == "next"


async def test_a_reader_that_is_too_slow_is_cut_off(ours: House) -> None:
    slow, quick = await opened(ours), await opened(ours)
    slow.reads.clear()
    for number in range(MOST_WAITING + 2):
        feed_of(ours).publish(EventKind.JOB, number)
        if number % 100 == 0:
            await ours.clock.settle()
    await ours.clock.advance("2s")
    await slow.ended()
    assert not quick.answering.done()
    assert len(quick.of("job")) == MOST_WAITING + 2


async def test_a_silent_stream_shows_that_it_lives(ours: House) -> None:
    listener = await opened(ours)
    await ours.clock.advance("16s")
    assert b": still here" in listener.text


async def test_there_is_an_end_to_how_many_streams_there_are(ours: House) -> None:
    listeners = [Listener(ours) for _ in range(MOST_STREAMS)]
    await ours.clock.settle()
    refused = await ours.caller()("GET", "/events")
    assert (refused.status, refused.kind) == (429, "too-many-streams")
    listeners[0].leaves.set()
    await listeners[0].ended()
    assert (await opened(ours)).status == 200


async def test_nobody_is_watched_once_nobody_has_listened_for_a_while(ours: House) -> None:
    listener = await opened(ours)
    assert watchers() == 1
    listener.leaves.set()
    await listener.ended()
    await ours.clock.advance("30s")
    assert watchers() == 1
    await ours.clock.advance("31s")
    assert watchers() == 0


def watchers() -> int:
    return sum(task.get_name() == "drumbeat-watcher" for task in asyncio.all_tasks())


async def test_streams_end_at_once_when_the_node_stops(ours: House) -> None:
    listener = await opened(ours)
    inside.setup(ours.app).bus.emit(NodeStopped(ours.app.id))
    await listener.ended()
    assert watchers() == 0


async def test_a_stream_ends_with_the_token_that_opened_it(ours: House) -> None:
    token = await ours.token(Scope.VIEWER, "gone soon")
    kept = await opened(ours, token=await ours.token(Scope.VIEWER, "kept"))
    listener = await opened(ours, token=token)
    await listener.settled("1m")
    assert not listener.answering.done()
    await ours.app.store.tokens.revoke("gone soon")
    await listener.settled("10s")
    await listener.ended()
    assert not kept.answering.done()


async def test_a_stream_outlives_a_store_that_is_away(
    ours: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = await opened(ours, token=await ours.token(Scope.VIEWER))

    async def away(*_: object) -> None:
        raise Unavailable("the store is away")

    monkeypatch.setattr(ours.app.store.tokens, "find", away)
    await listener.settled("1m")
    assert not listener.answering.done()


async def test_a_head_of_the_stream_ends(ours: House) -> None:
    answer = await ours.caller()("HEAD", "/events")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "text/event-stream"
    assert watchers() == 0


async def test_the_stream_of_a_node_that_runs_tells_its_ticks(ours: House) -> None:
    ask: Caller = ours.caller()
    await ask("PUT", "/schedules/beat", {"task": "greet", "when": {"type": "every", "interval": 5}})
    async with ours.app.running():
        await ours.clock.advance("1s")
        listener = await opened(ours)
        await listener.settled("6s")
        ticks = listener.of("tick")
        assert [(tick["schedule"], tick["outcome"]) for tick in ticks][:1] == [("beat", "fired")]
        assert [job["schedule"] for job in listener.of("job")][:1] == ["beat"]
    await listener.ended()
    refused = await ask("GET", "/events")
    assert (refused.status, refused.kind) == (503, "stopping")
