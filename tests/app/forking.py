"""A program that forks in the ways that real ones do. Run by `test_forks`.

Its arguments are a scenario, the address of a store, a namespace and perhaps that of a coordinator.
What it prints is compared.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from multiprocessing import get_context

from drumbeat import Drumbeat

app = Drumbeat(
    sys.argv[2],
    namespace=sys.argv[3],
    concurrency=4,
    lease_ttl="4s",
    environment={},
    coordinator=sys.argv[4] if len(sys.argv) > 4 else None,
)


@app.task
async def number(value: int) -> int:
    return value


@app.task
def number_from_a_child(value: int) -> int | None:
    """Fork within a handler, on the node's own process."""
    child = get_context("fork").Process(target=submit, args=(value,))
    child.start()
    child.join()
    return child.exitcode


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def submit(value: int) -> None:
    number.submit_sync(value)


def in_child(work: Callable[[], object]) -> int:
    """Fork as a server with `--preload` does; the child ends at once after the work."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is what the parent reports
            say(f"{type(error).__name__}: {error}")
            os._exit(1)
        os._exit(0)
    return child


def ends_well(child: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def counts() -> int:
    async def ask() -> int:
        async with app.connected():
            queues = await app.jobs.counts()
        return sum(sum(each.values()) for each in queues.values())

    return asyncio.run(ask())


def preload() -> None:
    """Submit before the fork, in several children at once, and again in the parent."""
    submit(0)
    parent = app.id

    def work() -> None:
        for value in range(5):
            submit(value)
        assert app.id != parent

    children = [in_child(work) for _ in range(3)]
    submit(1)
    say([ends_well(child) for child in children])
    submit(2)
    say(counts())


def preload_and_run() -> None:
    """Submit before the fork; a node runs in the child."""
    submit(7)

    def work() -> None:
        async def run() -> None:
            async with app.running():
                await app.wait_until_idle(60)

        asyncio.run(run())
        submit(8)  # on a loop of its own again

    say(ends_well(in_child(work)))
    submit(9)
    say(ends_well(in_child(work)))
    say(counts())


def inside_a_node() -> None:
    """Handlers of a running node fork, and so does the thread that runs its loop."""

    def work() -> None:
        submit(5)
        assert not app.leadership.is_leader
        assert app.addresses == ()
        asyncio.run(app.stop())  # nothing runs here, so nothing is stopped

    async def run() -> None:
        async with app.running():
            jobs = await number_from_a_child.submit_many([(value,) for value in range(4)])
            say([await app.jobs.result(job.id, 60) for job in jobs])
            child = in_child(work)
            say(await asyncio.to_thread(ends_well, child))
            await app.wait_until_idle(60)
            queues = await app.jobs.counts()
            say({status.value: count for status, count in queues["default"].items() if count})

    asyncio.run(run())


def outlived() -> None:
    """The parent closes its store while the child goes on."""
    submit(0)
    here, there = os.pipe(), os.pipe()

    def work() -> None:
        submit(1)
        os.write(here[1], b"1")
        os.read(there[0], 1)
        submit(2)

    child = in_child(work)
    os.read(here[0], 1)
    say(counts())
    os.write(there[1], b"2")
    say(ends_well(child))
    say(counts())


def coordinated() -> None:
    """Ask the coordinator before the fork, and then in several processes at once."""
    configuration = app.sync.config

    async def close() -> None:
        async with app.connected():
            """Its end closes all connections, on whichever loop."""

    def work() -> None:
        key = f"key of {os.getpid()}"
        for turn in range(50):
            value = f"{key}, turn {turn}".encode()
            configuration.put(key, value)
            found = configuration.get(key)
            assert found is not None
            assert found.value == value, (found.value, value)
        asyncio.run(close())

    configuration.put("before", b"the fork")
    children = [in_child(work) for _ in range(3)]
    work()
    say([ends_well(child) for child in children])


def memory() -> None:
    """A memory store that was used belongs to the parent."""
    say(ends_well(in_child(lambda: submit(1))))
    submit(2)
    say(ends_well(in_child(lambda: submit(3))))
    say(counts())


globals()[sys.argv[1]]()
