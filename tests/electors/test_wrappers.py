"""The electors that are put around others: each alone, and all together."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path

import pytest

import drumbeat.electors
from drumbeat.electors import cached, fenced, health_gated, logged, monitored
from drumbeat.model.errors import InvalidInput, Unavailable
from drumbeat.testing.clock import FakeClock
from tests.log_records import sentences

from .support import Bare, Word

PUBLIC = [
    "Elector",
    "ElectorMetrics",
    "FencedElector",
    "LeaderAwareScheduler",
    "LeaderElection",
    "WrappedElector",
    "cached",
    "fenced",
    "health_gated",
    "logged",
    "monitored",
    "step_down_on",
    "tolerant",
]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def word() -> Word:
    return Word(leads=True)


def test_the_public_names_are_these_in_order_and_documented() -> None:
    assert drumbeat.electors.__all__ == PUBLIC
    page = (Path(__file__).parents[2] / "docs" / "leadership.md").read_text(encoding="utf-8")
    assert [name for name in PUBLIC if not re.search(rf"`{name}\b", page)] == []


async def test_an_answer_is_kept_for_its_time_and_no_longer(word: Word, clock: FakeClock) -> None:
    elector = cached(word, ttl="2s", clock=clock)
    assert await elector.is_leader()
    word.leads = False
    await clock.advance(1.9)
    assert await elector.is_leader()
    assert word.asked == 1
    await clock.advance(0.2)
    assert not await elector.is_leader()
    assert word.asked == 2


async def test_a_kept_answer_counts_from_before_it_was_asked_for(
    word: Word, clock: FakeClock
) -> None:
    elector = cached(word, ttl=2, clock=clock)
    word.gate.clear()
    slow = asyncio.ensure_future(elector.is_leader())
    await clock.advance(1.5)
    word.gate.set()
    assert await slow
    await clock.advance(0.6)
    await elector.is_leader()
    assert word.asked == 2


async def test_many_who_ask_at_once_ask_once(word: Word, clock: FakeClock) -> None:
    elector = cached(word, ttl=1, clock=clock)
    assert await asyncio.gather(*(elector.is_leader() for _ in range(20))) == [True] * 20
    assert word.asked == 1


async def test_an_error_is_passed_on_and_not_kept(word: Word, clock: FakeClock) -> None:
    elector = cached(word, ttl=60, clock=clock)
    assert await elector.is_leader()
    await clock.advance(61)
    word.error = Unavailable("down")
    with pytest.raises(Unavailable):
        await elector.is_leader()
    word.error = None
    assert await elector.is_leader()


async def test_whoever_resigns_is_not_the_leader_by_an_old_answer(
    word: Word, clock: FakeClock
) -> None:
    elector = cached(word, ttl=60, clock=clock)
    assert await elector.is_leader()
    await elector.resign("enough")
    assert not await elector.is_leader()
    assert await elector.elect()
    assert word.told == ["resign: enough", "elect"]


@pytest.mark.parametrize("ttl", [0, -1, "0s", "soon"])
def test_a_time_that_cannot_be_is_refused(ttl: float | str) -> None:
    with pytest.raises(InvalidInput):
        cached(Bare(leads=True), ttl=ttl)


async def test_an_unhealthy_instance_resigns_once_and_stands_again_when_it_is_well(
    word: Word, caplog: pytest.LogCaptureFixture
) -> None:
    well = True
    elector = health_gated(word, lambda: well)
    assert await elector.is_leader()
    well = False
    assert not await elector.is_leader()
    assert not await elector.is_leader()
    assert word.told == ["resign: the instance is not healthy"]
    assert "Not healthy, so not leading: the check said no" in caplog.text
    well = True
    assert await elector.is_leader()
    assert word.told == ["resign: the instance is not healthy", "elect"]


async def test_a_check_may_be_asynchronous_and_one_that_fails_says_no(
    word: Word, caplog: pytest.LogCaptureFixture
) -> None:
    problems: list[Exception] = []

    async def check() -> bool:
        if problems:
            raise problems[0]
        return True

    elector = health_gated(word, check)
    assert await elector.is_leader()
    problems.append(ConnectionError("database"))
    assert not await elector.is_leader()
    assert "ConnectionError('database')" in caplog.text


async def test_a_bare_elector_is_not_believed_while_the_instance_is_unwell() -> None:
    well = False
    elector = health_gated(Bare(leads=True), lambda: well)
    assert not await elector.is_leader()
    assert not await elector.elect()
    well = True
    assert await elector.is_leader()


async def test_changes_and_failures_become_lines_and_repetitions_do_not(
    word: Word, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="drumbeat")
    elector = logged(word, "web-1")
    for leads in (False, True, True, False, False):
        word.leads = leads
        assert await elector.is_leader() is leads
    word.error = Unavailable("down")
    for _ in range(3):
        with pytest.raises(Unavailable):
            await elector.is_leader()
    assert sentences(caplog.records) == [
        "Became the leader",
        "Lost leadership",
        "Leadership check failed",
    ]
    assert caplog.records[0].__dict__["facts"] == {"instance_id": "web-1"}


class Meter:
    """Metrics, as lists."""

    def __init__(self) -> None:
        self.gauge: list[bool] = []
        self.transitions: list[bool] = []
        self.checks: list[tuple[float, bool]] = []

    def leading(self, *, leads: bool) -> None:
        self.gauge.append(leads)

    def transition(self, *, leads: bool) -> None:
        self.transitions.append(leads)

    def checked(self, seconds: float, error: BaseException | None) -> None:
        self.checks.append((seconds, error is None))


async def test_status_transitions_checks_and_latency_are_measured(
    word: Word, clock: FakeClock
) -> None:
    meter = Meter()
    elector = monitored(word, meter, clock=clock)
    word.gate.clear()
    slow = asyncio.ensure_future(elector.is_leader())
    await clock.advance(0.25)
    word.gate.set()
    assert await slow
    word.error = Unavailable("down")
    with pytest.raises(Unavailable):
        await elector.is_leader()
    word.error = None
    word.leads = False
    await elector.is_leader()
    assert meter.gauge == [True, False, False]
    assert meter.transitions == [True, False]
    assert meter.checks == [(0.25, True), (0.0, False), (0.0, True)]


async def test_a_new_number_is_a_new_term_even_if_the_answer_stays_yes(word: Word) -> None:
    number: int | None = 7
    elector = fenced(word, lambda: number)
    assert await elector.is_leader()
    assert elector.epoch == 7
    number = 9
    assert not await elector.is_leader(), "whoever acted under 7 has to stop"
    assert elector.epoch is None
    assert await elector.is_leader()
    assert elector.epoch == 9


async def test_a_number_that_falls_back_is_never_believed(word: Word) -> None:
    numbers: list[int | None] = [7]

    async def read() -> int | None:
        return numbers[-1]

    elector = fenced(word, read)
    assert await elector.is_leader()
    for number in (3, None):
        numbers.append(number)
        assert not await elector.is_leader()
        assert elector.epoch is None
    numbers.append(8)
    assert await elector.is_leader()
    assert elector.epoch == 8
    word.leads = False
    assert not await elector.is_leader()
    assert elector.epoch is None


async def test_they_fit_into_each_other_and_the_innermost_is_told(
    word: Word, clock: FakeClock
) -> None:
    meter, well = Meter(), True
    inner = health_gated(fenced(word, lambda: 1), lambda: well)
    elector = logged(monitored(cached(inner, ttl=1, clock=clock), meter, clock=clock))
    assert await elector.elect()
    elector.step_down("maintenance")
    well = False
    await clock.advance(2)
    assert not await elector.is_leader()
    assert word.told == [
        "elect",
        "step down: maintenance",
        "resign: the instance is not healthy",
    ]
    assert meter.transitions == [True, False]


async def test_around_a_bare_elector_standing_and_stepping_down_do_nothing() -> None:
    elector = logged(cached(Bare(leads=True)))
    assert await elector.elect()
    await elector.resign()
    elector.step_down("why not")
    assert await elector.is_leader()
