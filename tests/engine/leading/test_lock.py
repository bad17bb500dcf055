"""Locks of the whole fleet."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from drumbeat import Drumbeat, LockHeld, LockLost
from drumbeat.model.errors import ConfigurationError, LockError, Unavailable, UnsafeLease
from drumbeat.model.events import LockFailed
from drumbeat.testing.clock import FakeClock
from tests.engine.support.fleet import Fault, Fleet, Heard


async def test_the_token_rises_with_every_holder(fleet: Fleet) -> None:
    first, second = fleet.app(), fleet.app()
    tokens: list[int] = []
    for app in (first, second, first):
        async with app.lock("deploy") as lock:
            assert lock.held
            tokens.append(lock.token)
        assert not lock.held
    assert tokens == sorted(set(tokens))
    async with first.lock("deploy") as one, first.lock("other") as two:
        assert one.token != two.token


async def test_a_lock_that_is_held_is_refused_with_its_holders_label(fleet: Fleet) -> None:
    holder, other = fleet.app(instance_id="web-1"), fleet.app(instance_id="web-2")
    heard = Heard(other)
    async with holder.lock("deploy"):
        with pytest.raises(LockHeld, match="lock 'deploy' is held by web-1") as refused:
            async with other.lock("deploy"):
                pytest.fail("two hold one lock")
        assert (refused.value.name, refused.value.holder) == ("deploy", "web-1")
        assert [event.name for event in heard.of(LockFailed)] == ["deploy"]
        with pytest.raises(LockHeld):  # also for the holder itself: it is not reentrant
            async with holder.lock("deploy"):
                pytest.fail("two hold one lock")


async def test_a_lock_is_waited_for_and_taken_as_soon_as_it_is_free(
    fleet: Fleet, clock: FakeClock
) -> None:
    holder, other = fleet.app(), fleet.app()
    taken: list[float] = []

    async def wait() -> None:
        async with other.lock("deploy", wait="1m"):
            taken.append(clock.elapsed())

    async with holder.lock("deploy"):
        waiting = asyncio.ensure_future(wait())
        await clock.advance(7.3)
        assert taken == []
    await clock.settle()
    assert taken == [7.3]
    await waiting


async def test_waiting_for_a_lock_ends_in_time(fleet: Fleet, clock: FakeClock) -> None:
    holder, other = fleet.app(), fleet.app()

    async def wait() -> None:
        async with other.lock("deploy", wait=5):
            pytest.fail("two hold one lock")

    async with holder.lock("deploy"):
        with pytest.raises(LockHeld):
            await clock.until(wait())
        assert clock.elapsed() == pytest.approx(5, abs=0.01)


async def test_a_lock_is_kept_for_as_long_as_its_body_takes(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    other = fleet.app()
    async with app.lock("deploy", ttl=6) as lock:
        for _ in range(10):
            await clock.advance(5)
            assert lock.held
            with pytest.raises(LockHeld):
                await other.lock("deploy").__aenter__()


@pytest.mark.parametrize("mode", ["refuse", "hang", "before"])
async def test_a_lost_lock_cancels_its_body_and_says_so(
    fleet: Fleet, app: Drumbeat, heard: Heard, clock: FakeClock, mode: str
) -> None:
    ended: list[float] = []

    async def body() -> None:
        async with app.lock("deploy", ttl=10) as lock:
            Fault(fleet.coordinator.leases, "renew").always(mode)
            try:
                await asyncio.Event().wait()
            finally:
                assert not lock.held
                ended.append(clock.elapsed())

    with pytest.raises(LockLost, match="lock 'deploy' with token 1 was lost"):
        await clock.until(body())
    # Refused: at the first renewal. Not answered: by our own deadline, before the other side's.
    assert ended == [pytest.approx(3.0 if mode == "refuse" else 8.9, abs=0.01)]
    assert isinstance(heard.of(LockFailed)[-1].error, LockLost)


async def test_a_task_that_lost_a_lock_goes_on_as_if_never_cancelled(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    async def body() -> int:
        task = asyncio.current_task()
        assert task is not None
        try:
            async with app.lock("deploy", ttl=10):
                Fault(fleet.coordinator.leases, "renew").always("refuse")
                await asyncio.Event().wait()
        except LockLost:
            pass
        await clock.sleep(1)
        return task.cancelling()

    assert await clock.until(body()) == 0


async def test_a_body_that_swallows_the_loss_is_told_all_the_same(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    async def body() -> None:
        async with app.lock("deploy", ttl=10):
            Fault(fleet.coordinator.leases, "renew").always("refuse")
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def task() -> int:
        with pytest.raises(LockLost):
            await body()
        current = asyncio.current_task()
        assert current is not None
        return current.cancelling()

    assert await clock.until(task()) == 0


async def test_a_lost_lock_of_a_task_that_once_swallowed_a_cancellation_is_lost_all_the_same(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    async def body() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            async with app.lock("deploy", ttl=10):
                Fault(fleet.coordinator.leases, "renew").always("refuse")
                await asyncio.Event().wait()
        except LockLost:
            return "lost"
        return "kept"

    task = asyncio.ensure_future(body())
    await clock.settle()
    task.cancel()
    assert await clock.until(asyncio.wait_for(task, None)) == "lost"


async def test_a_lock_is_released_on_every_way_out(
    fleet: Fleet, app: Drumbeat, clock: FakeClock
) -> None:
    other = fleet.app()

    async def leave(way: str) -> None:
        async with app.lock("deploy"):
            if way == "raise":
                raise ZeroDivisionError
            if way == "cancel":
                await asyncio.Event().wait()

    for way in ("return", "raise", "cancel"):
        task = asyncio.ensure_future(leave(way))
        await clock.settle()
        task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        expected = {"return": type(None), "raise": ZeroDivisionError}
        assert isinstance(outcome, expected.get(way, asyncio.CancelledError))
        async with other.lock("deploy"):
            pass
    assert [task for task in asyncio.all_tasks() if "lock" in task.get_name()] == []


async def test_an_error_of_the_body_is_not_hidden_by_a_release_that_fails(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    Fault(fleet.coordinator.leases, "release").before()
    with pytest.raises(ZeroDivisionError):
        async with app.lock("deploy"):
            raise ZeroDivisionError
    assert isinstance(heard.of(LockFailed)[0].error, Unavailable)


@pytest.mark.parametrize("wait", [0, 5])
async def test_a_coordinator_that_hangs_does_not_hang_whoever_wants_a_lock(
    fleet: Fleet, app: Drumbeat, heard: Heard, clock: FakeClock, wait: int
) -> None:
    Fault(fleet.coordinator.leases, "acquire").always("hang")

    async def take() -> None:
        async with app.lock("deploy", wait=wait):
            pytest.fail("nobody granted it")

    with pytest.raises(Unavailable, match="lock 'deploy'"):
        await clock.until(take(), "1m")
    assert heard.of(LockFailed)


async def test_a_lock_that_cannot_be_asked_for_is_told_of(
    fleet: Fleet, app: Drumbeat, heard: Heard
) -> None:
    Fault(fleet.coordinator.leases, "acquire").before()
    with pytest.raises(Unavailable):
        async with app.lock("deploy"):
            pytest.fail("nobody granted it")
    assert len(heard.of(LockFailed)) == 1


async def test_misuse_is_refused_in_clear_words(app: Drumbeat) -> None:
    with pytest.raises(ConfigurationError, match="needs a name"):
        app.lock("")
    with pytest.raises(UnsafeLease, match="ttl"):
        app.lock("deploy", ttl=0)
    with pytest.raises(LockError, match="not held"):
        _ = app.lock("deploy").token


async def test_a_lock_can_be_taken_by_an_app_that_does_not_run(tmp_path: Path) -> None:
    app = Drumbeat(f"sqlite:///{tmp_path}/locks.db", environment={})
    opened: list[str] = []
    coordinator = app._state.backends.coordinator  # pyright: ignore[reportPrivateUsage] - to see what is asked of it
    really_open = coordinator.open

    async def note() -> None:
        opened.append("coordinator")
        await really_open()

    coordinator.open = note  # type: ignore[method-assign]  # to see that it is asked first
    async with app.lock("report") as lock:
        assert (lock.held, opened) == (True, ["coordinator"])
    await coordinator.close()
