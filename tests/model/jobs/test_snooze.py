"""`Snooze`: when a job is to run again."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

from drumbeat import Snooze
from drumbeat.model.errors import InvalidOption


@pytest.mark.parametrize("delay", ["10m", 600, timedelta(minutes=10), "600"])
def test_a_snooze_takes_any_duration(delay: float | str | timedelta) -> None:
    snooze = Snooze(delay)
    assert snooze.delay == timedelta(minutes=10)
    assert str(snooze) == "snoozed for 600 s"
    assert pickle.loads(pickle.dumps(snooze)).delay == snooze.delay


@pytest.mark.parametrize("delay", [-1, "soon", timedelta(seconds=-1), None])
def test_a_snooze_refuses_what_is_no_duration(delay: float) -> None:
    with pytest.raises(InvalidOption, match=r"Snooze: .*duration"):
        Snooze(delay)
