"""The loop of the simulator: virtual time, lanes, and rejection of everything nondeterministic."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from simulation.loop import Lane, NotSimulated, VirtualLoop
from simulation.randomness import random_for


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    loop = VirtualLoop(random_for(1, "order").random)
    yield loop
    loop.close()


def until(loop: VirtualLoop, seconds: float) -> None:
    """Run the loop for this many virtual seconds."""
    passed = loop.create_future()
    loop.call_later(seconds, passed.set_result, None, context=loop.world_lane.context)
    loop.run_until_complete(passed)


def saying(said: list[str], what: str) -> Callable[[], None]:
    return lambda: said.append(what)


def test_a_day_passes_at_once(loop: VirtualLoop) -> None:
    until(loop, 86_400)
    assert loop.time() == 86_400


def test_a_timer_never_rings_before_its_time(loop: VirtualLoop) -> None:
    rung: list[float] = []
    loop.call_later(0.000_000_4, lambda: rung.append(loop.time()))
    loop.call_later(1 / 3, lambda: rung.append(loop.time()))
    until(loop, 1)
    assert rung == [0.000_001, 0.333_334]


def test_a_lane_keeps_its_order(loop: VirtualLoop) -> None:
    said: list[int] = []
    lane = Lane("a")
    for number in range(50):
        loop.call_soon(said.append, number, context=lane.context)
    until(loop, 1)
    assert said == list(range(50))


def order_of(seed: int) -> str:
    loop = VirtualLoop(random_for(seed, "order").random)
    said: list[str] = []
    for name in "abcdefgh":
        loop.call_soon(said.append, name, context=Lane(name).context)
    until(loop, 1)
    loop.close()
    return "".join(said)


def test_the_seed_decides_which_lane_goes_first() -> None:
    orders = [order_of(seed) for seed in range(20)]
    assert orders == [order_of(seed) for seed in range(20)]
    assert len(set(orders)) > 15


def test_a_task_stays_in_its_lane(loop: VirtualLoop) -> None:
    lane, said = Lane("a"), list[str]()

    async def work() -> None:
        said.append("began")
        await asyncio.get_running_loop().run_in_executor(None, print)

    async def child() -> None:
        said.append("child")

    async def parent() -> None:
        await asyncio.create_task(child())

    loop.pause(lane)
    loop.start(lane, parent(), "parent")
    until(loop, 1)
    assert said == []
    loop.resume(lane)
    until(loop, 1)
    assert said == ["child"]
    with pytest.raises(NotSimulated, match="thread"):
        loop.run_until_complete(loop.start(lane, work(), "work"))


def test_a_paused_lane_goes_on_with_what_it_missed(loop: VirtualLoop) -> None:
    said: list[str] = []
    lane = Lane("a")
    loop.call_later(1, saying(said, "first"), context=lane.context)
    loop.call_later(2, saying(said, "second"), context=lane.context)
    loop.pause(lane)
    until(loop, 3)
    assert said == []
    loop.resume(lane)
    until(loop, 0.1)
    assert said == ["first", "second"]


def test_a_dead_lane_does_nothing_any_more(loop: VirtualLoop) -> None:
    said: list[str] = []
    lane = Lane("a")

    async def live() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            said.append("cleaned up")

    task = loop.start(lane, live(), "live")
    until(loop, 1)
    loop.kill(lane)
    task.cancel()
    loop.call_soon(saying(said, "called"), context=lane.context)
    until(loop, 1)
    assert said == []
    loop.revive(lane)
    until(loop, 1)
    assert task.cancelled()


def test_a_callback_may_kill_its_own_lane(loop: VirtualLoop) -> None:
    said: list[str] = []
    lane = Lane("a")
    loop.call_soon(loop.kill, lane, context=lane.context)
    loop.call_soon(saying(said, "after death"), context=lane.context)
    until(loop, 1)
    assert said == []


def test_calls_from_another_thread_are_rejected(loop: VirtualLoop) -> None:
    refused: list[BaseException] = []

    def call() -> None:
        try:
            loop.call_soon_threadsafe(print)
        except NotSimulated as error:
            refused.append(error)

    def start() -> None:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    loop.call_soon(start)
    until(loop, 1)
    assert len(refused) == 1


def test_a_deadlocked_world_is_an_error(loop: VirtualLoop) -> None:
    with pytest.raises(NotSimulated, match="deadlock"):
        loop.run_until_complete(loop.create_future())
