"""Shares of tries in time are reported, and fail if they are too low."""

from __future__ import annotations

import pytest

from tests.chaos.shares import Share

MOST = Share(good=2, tries=3)


@pytest.mark.parametrize("took", [(1.0, 1.5, 1.9), (1.0, 9.0, 1.0)])
def test_enough_tries_in_time_pass_and_are_counted(took: tuple[float, ...]) -> None:
    good = sum(seconds < 2 for seconds in took)
    assert f"{good} of 3 tries took less than 2 s, at least 2 must" in MOST.check("x", took, 2)


def test_too_few_tries_in_time_fail_with_the_time_of_each() -> None:
    with pytest.raises(AssertionError, match=r"x: 1 of 3 tries .* \(seconds: 1.00, 2.00, 9.00\)"):
        MOST.check("x", (1.0, 2.0, 9.0), 2)


def test_fewer_tries_than_stated_fail() -> None:
    with pytest.raises(AssertionError, match="2 tries, expected 3"):
        MOST.check("x", (1.0, 1.0), 2)
