"""Bounds of the API count bytes: of the event ring, of backlogs, of pages and of answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from typing import Any

import pytest

from drumbeat.api.http.connection import cut_off_largest
from drumbeat.api.http.stream_sender import WRITE_SECONDS
from drumbeat.fleet.local.bounded_page import FIRST_PORTION, PAGE_BYTES, bounded_page
from drumbeat.fleet.local.events.feed import (
    KEPT_BYTES,
    MOST_STREAMS,
    MOST_WAITING_BYTES,
)
from drumbeat.fleet.local.large_values import EVENT_BYTES
from drumbeat.model.errors import TooManyStreams
from drumbeat.model.jobs.job import JobSpec
from drumbeat.model.page import Page, PageRequest
from drumbeat.wire.event import EventKind

from .caller import Caller, House, house
from .listener import feed_of, opened
from .serving import SLOW, connected, served

LARGE = b'{"name":"' + b"x" * 250_000 + b'"}'
NOT_FOREVER = 30.0


@pytest.fixture
async def ours() -> AsyncIterator[House]:
    made = house()
    yield made
    feed_of(made).close()


@pytest.fixture
def ask(ours: House) -> Caller:
    return ours.caller()


async def test_the_ring_keeps_only_so_many_bytes(ours: House) -> None:
    feed = feed_of(ours)
    for _ in range(200):
        feed.publish(EventKind.JOB, "x" * 200_000)
    assert KEPT_BYTES - 210_000 < feed.kept_bytes <= KEPT_BYTES
    for _ in range(20_000):
        feed.publish(EventKind.JOB, 1)
    assert feed.kept_bytes < 1_000_000  # the large ones have made room for the newer


async def test_a_backlog_of_many_bytes_ends_a_stream(ours: House) -> None:
    slow, quick = await opened(ours), await opened(ours)
    slow.reads.clear()
    for _ in range(3 + MOST_WAITING_BYTES // 100_000):
        feed_of(ours).publish(EventKind.JOB, "x" * 100_000)
        await ours.clock.settle()
    await ours.clock.advance("2s")
    await slow.ended()
    assert not quick.answering.done()


async def test_a_stream_does_not_resume_with_too_many_bytes(ours: House) -> None:
    first = await opened(ours)
    seen = first.last
    first.leaves.set()
    await first.ended()
    for _ in range(3 + MOST_WAITING_BYTES // 100_000):
        feed_of(ours).publish(EventKind.JOB, "x" * 100_000)
    assert [kind for kind, _ in (await opened(ours, last=seen)).events] == ["reset"]


async def test_a_client_that_does_not_read_its_stream_is_cut_off(ours: House) -> None:
    stalled = await opened(ours)
    stalled.reads.clear()
    feed_of(ours).publish(EventKind.JOB, 1)
    await ours.clock.settle()
    await ours.clock.advance(WRITE_SECONDS - 1)
    assert not stalled.answering.done()
    await ours.clock.advance(5)
    await stalled.ended()


async def test_streams_have_their_place_before_they_are_read(ours: House) -> None:
    feed = feed_of(ours)
    readers = [feed.subscribe(()) for _ in range(MOST_STREAMS)]
    with pytest.raises(TooManyStreams, match="100 streams"):
        feed.subscribe(())
    feed.leave(readers[0])
    again = feed.subscribe(())
    for reader in (*readers, again):
        feed.leave(reader)
    assert len([feed.subscribe(()) for _ in range(MOST_STREAMS)]) == MOST_STREAMS


async def test_an_event_leaves_large_values_out(ours: House) -> None:
    listener = await opened(ours)
    await ours.app.submit(JobSpec("greet", LARGE))
    await ours.app.submit(JobSpec("greet", b'{"name":"small"}'))
    await listener.settled()
    large, small = listener.of("job")
    assert large["arguments"] == f"[{len(LARGE)} bytes, left out: ask for the job]"
    assert small["arguments"] == {"name": "small"}
    assert len(listener.text) < EVENT_BYTES


async def test_a_page_of_large_jobs_ends_early(ask: Caller, ours: House) -> None:
    jobs = ours.app.store.jobs
    planted = await jobs.insert([JobSpec("greet", LARGE) for _ in range(60)])
    read: list[int] = []
    listed = jobs.list

    async def counted(*args: Any, **kwargs: Any) -> Any:
        page = await listed(*args, **kwargs)
        read.append(sum(len(job.spec.arguments) for job in page.items))
        return page

    setattr(jobs, "list", counted)  # noqa: B010 - a Protocol's method
    ids: list[int] = []
    path: str | None = "/jobs?limit=1000"
    while path is not None:
        answer = await ask("GET", path)
        assert len(answer.body) <= PAGE_BYTES * 1.1
        ids += [job["id"] for job in answer.data]
        link = answer.headers.get("link")
        path = None if link is None else link.partition("<")[2].partition(">")[0]
    assert ids == sorted((verdict.job.id for verdict in planted), reverse=True)
    assert max(read) <= FIRST_PORTION * len(LARGE)


@pytest.mark.parametrize(
    ("count", "size", "limit", "got", "reads"),
    [
        (1_000, 100, 1_000, 1_000, 2),
        (1_000, 100, 30, 30, 1),
        (3, 10, 1_000, 3, 1),
        (100, PAGE_BYTES * 2, 1_000, 1, 2),
        (100, PAGE_BYTES // 4, 1_000, 4, 2),
        (100, PAGE_BYTES // 60, 100, 60, 2),
    ],
)
async def test_a_page_is_read_in_portions(
    count: int, size: int, limit: int, got: int, reads: int
) -> None:
    calls: list[PageRequest] = []

    def read(page: PageRequest) -> Awaitable[Page[int]]:
        calls.append(page)
        start = int(page.after or 0)
        items = tuple(range(start, min(count, start + page.size)))
        more = start + len(items) < count
        done: asyncio.Future[Page[int]] = asyncio.get_running_loop().create_future()
        done.set_result(Page(items, str(start + len(items)) if more else None))
        return done

    page = await bounded_page(read, PageRequest(limit), lambda _item: size)
    assert page.items == tuple(range(got))
    assert page.next == (None if got == count else str(got))
    assert len(calls) == reads


class Transport:
    """Knows how much it has not sent."""

    def __init__(self, unsent: int) -> None:
        self.unsent = unsent
        self.aborted = False
        self.transport = self

    def abort(self) -> None:
        self.aborted = True


def test_the_largest_backlogs_are_cut_off_first() -> None:
    made = [Transport(size) for size in (10, 500, 0, 300, 90)]
    several: Any = made
    cut_off_largest(several, 400)
    assert [each.unsent for each in made if each.aborted] == [500]
    cut_off_largest(several[2:], 50)
    assert [each.unsent for each in made if each.aborted] == [500, 300, 90]


async def test_a_client_that_does_not_read_its_answer_is_cut_off() -> None:
    gone = asyncio.Event()

    async def huge(_connection: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        chunk = b"x" * 1_000_000
        for _ in range(100):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    async with served(huge, bounds=replace(SLOW, write_seconds=1)) as server:
        _reader, writer = await connected(server.address)
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        async with asyncio.timeout(NOT_FOREVER):
            await gone.wait()
        writer.transport.abort()
