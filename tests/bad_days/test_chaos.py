"""Two minutes of chaos: a fleet on each pair, a nemesis, and the checks.

`make chaos` plays longer days of more nodes. Both end with a table and with a picture, which is
kept in `chaos-report/`.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from fcntl import LOCK_EX, flock
from math import floor
from pathlib import Path

import pytest

from chaos.day import Script
from chaos.figures import Figures, figures_of
from chaos.history import History, Kind
from chaos.page import write_page
from chaos.pairs import PAIRS
from chaos.playing import play
from chaos.wrong_clock import find_library

from .conftest import chaos_table

SCRIPT = Script(seconds=24.0, nodes=3, seed=221)
"""Always the same faults, so that what it says is about the change. Its seed draws every kind."""
AT_ONCE = 2
ROOT = Path(__file__).parents[2]
IS_QUICK = "failover is quick"
"""The check that depends on the machine too."""

QUICK = 2 / 3
"""The share of all failovers that must be within the bound. Everything else must always hold.

Each day is played once, with the same faults. A busy machine holds up a single failover; a fault of
ours, such as a lease that is not released or a follower that gets no hint, holds up every one. A
day may have only one or two failovers, so on a single pair one more of them may be slow.
"""

pytestmark = pytest.mark.timeout(900)  # the first of these tests plays all days


@pytest.fixture(scope="module")
def days(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Figures]:
    """The days by their pairs, played once although several processes may share the tests."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        folder = folder.parent  # which all of them have
    kept = folder / "chaos.days"
    with (folder / "chaos.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(played()))
    days: dict[str, Figures] = pickle.loads(kept.read_bytes())
    pytestconfig.stash[chaos_table] = [*days.values()]
    return days


def played() -> dict[str, Figures]:
    """Play a day on each pair whose servers are installed."""
    days = {pair: (day, figures_of(day)) for pair, day in play_all(PAIRS, AT_ONCE).items()}
    write_page(ROOT / "chaos-report", [*days.values()])
    return {pair: figures for pair, (_, figures) in days.items()}


def play_all(pairs: Sequence[str], at_once: int) -> dict[str, History]:
    told: list[str] = []
    days = asyncio.run(play(pairs, SCRIPT, told.append, at_once))
    return {pair: day for pair, day in days.items() if isinstance(day, History)}


def quick_failovers(figures: Figures) -> int:
    slow = sum(violation.check == IS_QUICK for violation in figures.violations)
    return len(figures.failovers) - slow


@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_is_lost_or_doubled_on_a_bad_day(
    request: pytest.FixtureRequest, days: dict[str, Figures], pair: str, tell: Callable[[str], None]
) -> None:
    if pair not in days:
        for server in pair.split("+"):
            request.getfixturevalue(server)  # skips, and lets the end of the run say so
    figures = days[pair]
    quick, count = quick_failovers(figures), len(figures.failovers)
    least = floor(QUICK * count)
    found = f"{pair}: {quick} of {count} failovers were quick, at least {least} must be"
    tell(found)
    rest = [each for each in figures.violations if each.check != IS_QUICK]
    assert replace(figures, violations=rest).broken() == []
    assert figures.ticks_due > 2 * SCRIPT.seconds
    assert figures.failovers
    assert quick >= least, f"{found}: {figures.broken()}"


def test_most_failovers_are_quick(days: dict[str, Figures], tell: Callable[[str], None]) -> None:
    quick = sum(quick_failovers(figures) for figures in days.values())
    count = sum(len(figures.failovers) for figures in days.values())
    found = f"{quick} of {count} failovers were quick, at least {QUICK:.0%} must be"
    tell(found)
    slow = {pair: figures.broken() for pair, figures in days.items() if figures.broken()}
    assert quick >= QUICK * count, f"{found}: {slow}"


def test_every_kind_of_fault_came(days: dict[str, Figures]) -> None:
    if len(days) < len(PAIRS):
        pytest.skip("not all pairs could be played")
    came = {kind for day in days.values() for kind, count in day.faults.items() if count}
    assert came == {*Kind} - (set() if find_library() else {Kind.SKEW})
