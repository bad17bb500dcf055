"""Electors that cannot work are refused when they are given."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Callable
from typing import Any

import pytest

from drumbeat import Drumbeat
from drumbeat.electors import LeaderAwareScheduler, LeaderElection, cached, tolerant
from drumbeat.model.errors import ConfigurationError, InvalidInput
from drumbeat.testing.clock import FakeClock

from .support import Bare, Word


class Plain:
    def is_leader(self) -> bool:
        return True


class Attribute:
    is_leader = True


class Curious:
    async def is_leader(self, context: object) -> bool:
        return context is not None


class Nothing:
    pass


FAULTS = [
    (None, "not None; leave it out to elect by the coordinator"),
    (7, "not 7"),
    (Nothing(), "elector must be an object with `async def is_leader(self) -> bool`, not <"),
    (Bare, "elector must be an instance, not the class Bare; write Bare() instead"),
    (Plain(), "is_leader of the elector Plain must be asynchronous; write `async def is_leader`"),
    (Attribute(), "is_leader of the elector Attribute must be a method, not True"),
    (Curious(), "is_leader of the elector Curious must take no arguments besides self"),
]
GIVEN: list[Callable[[Any], object]] = [
    lambda elector: Drumbeat("memory://", elector=elector, environment={}),
    lambda elector: Drumbeat("memory://", environment={}).obey(elector),
    lambda elector: LeaderAwareScheduler(elector, Drumbeat("memory://", environment={})),
    lambda elector: cached(elector),
]


@pytest.mark.parametrize("give", GIVEN, ids=["app", "obey", "scheduler", "wrapper"])
@pytest.mark.parametrize(("elector", "sentence"), FAULTS)
def test_what_is_no_elector_is_refused(
    give: Callable[[Any], object], elector: object, sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(sentence)):
        give(elector)


def test_it_is_refused_also_while_elections_are_off() -> None:
    with pytest.raises(ConfigurationError, match="asynchronous"):
        Drumbeat("memory://", elector=Plain(), leader_election=False, environment={})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - on purpose


def decorated(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*arguments: object) -> object:
        return method(*arguments)

    return call


class Decorated:
    @decorated
    async def is_leader(self) -> bool:
        return True


class Asker:
    async def __call__(self) -> bool:
        return True


class Composed:
    def __init__(self) -> None:
        self.is_leader = Asker()


class Static:
    @staticmethod
    async def is_leader() -> bool:
        return True


@pytest.mark.parametrize("elector", [Bare(leads=True), Decorated(), Composed(), Static()])
def test_every_asynchronous_question_is_taken(elector: Any) -> None:
    Drumbeat("memory://", elector=elector, environment={})
    cached(elector)


def test_an_election_is_an_elector() -> None:
    Drumbeat("memory://", elector=LeaderElection("web-1"), environment={})


async def test_the_last_yes_is_kept_while_the_elector_fails() -> None:
    clock, word = FakeClock(), Word(leads=True)
    elector = tolerant(word, grace="5s", clock=clock)
    assert await elector.is_leader()
    word.error = RuntimeError("gone")
    await clock.advance(4.9)
    assert await elector.is_leader()
    await clock.advance(0.1)
    with pytest.raises(RuntimeError, match="gone"):
        await elector.is_leader()


async def test_a_no_is_never_kept_and_a_silent_elector_counts_as_failing() -> None:
    clock, word = FakeClock(), Word(leads=True)
    elector = tolerant(word, grace="5s", answer_within="1s", clock=clock)
    assert await elector.is_leader()
    word.gate.clear()
    answer = asyncio.ensure_future(elector.is_leader())
    await clock.advance(1)
    assert await answer
    word.gate.set()
    word.leads = False
    assert not await elector.is_leader()
    word.error = RuntimeError("gone")
    with pytest.raises(RuntimeError, match="gone"):
        await elector.is_leader()


async def test_stepping_down_and_resigning_forget_the_last_yes() -> None:
    clock, word = FakeClock(), Word(leads=True)
    elector = tolerant(word, clock=clock)
    assert await elector.is_leader()
    elector.step_down("enough")
    word.error = RuntimeError("gone")
    with pytest.raises(RuntimeError, match="gone"):
        await elector.is_leader()
    word.error = None
    assert await elector.is_leader()
    await elector.resign()
    word.error = RuntimeError("gone")
    with pytest.raises(RuntimeError, match="gone"):
        await elector.is_leader()
    assert word.told == ["step down: enough", "resign: resigned"]


@pytest.mark.parametrize("name", ["grace", "answer_within"])
def test_times_of_a_tolerant_elector_are_longer_than_zero(name: str) -> None:
    options: dict[str, Any] = {name: 0}
    with pytest.raises(InvalidInput, match=f"{name} must be longer than zero, not 0"):
        tolerant(Bare(leads=True), **options)
