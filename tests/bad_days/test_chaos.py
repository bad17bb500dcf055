"""Two minutes of chaos: a fleet on each pair, a nemesis, and the checks.

`make chaos` plays longer days of more nodes. Both end with a table and with a picture, which is
kept in `chaos-report/`.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
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
from .shares import Share

SCRIPT = Script(seconds=24.0, nodes=3, seed=221)
"""Always the same faults, so that what it says is about the change. Its seed draws every kind."""
AT_ONCE = 2
ROOT = Path(__file__).parents[2]
IS_QUICK = "failover is quick"
"""The check that depends on the machine too."""

QUICK = Share(good=1, tries=3)
"""Plays of a day whose first play had slow failovers, and how many of them must have none.

The faults of all plays are the same. A fault of ours makes the same failover slow in each of them,
whereas a busy machine rarely holds up all three. A day that is quick at once is not played again.
"""

pytestmark = pytest.mark.timeout(900)  # the first of these tests plays all days


@dataclass(frozen=True, slots=True)
class Day:
    """The play of a day that is shown, and how many plays had only quick failovers."""

    figures: Figures
    plays: int
    quick: int

    def __str__(self) -> str:
        return (
            f"{self.figures.pair}: {self.quick} of {self.plays} plays had only quick failovers; "
            f"if the first has not, {QUICK.good} of {QUICK.tries} must"
        )


@pytest.fixture(scope="module")
def days(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Day]:
    """The days by their pairs, played once although several processes may share the tests."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        folder = folder.parent  # which all of them have
    kept = folder / "chaos.days"
    with (folder / "chaos.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(played()))
    days: dict[str, Day] = pickle.loads(kept.read_bytes())
    pytestconfig.stash[chaos_table] = [day.figures for day in days.values()]
    return days


def played() -> dict[str, Day]:
    """Play a day on each pair whose servers are installed."""
    plays = {pair: [judged(day)] for pair, day in play_all(PAIRS, AT_ONCE).items()}
    slow = [pair for pair, (first,) in plays.items() if was_only_slow(first[1])]
    for _ in range(1, QUICK.tries):
        for pair, day in play_all(slow, at_once=1).items():
            plays[pair].append(judged(day))
    shown = {pair: most_telling(each) for pair, each in plays.items()}
    write_page(ROOT / "chaos-report", [*shown.values()])
    return {
        pair: Day(figures, len(plays[pair]), sum(not was_slow(each) for _, each in plays[pair]))
        for pair, (_, figures) in shown.items()
    }


def judged(day: History) -> tuple[History, Figures]:
    return day, figures_of(day)


def most_telling(plays: Sequence[tuple[History, Figures]]) -> tuple[History, Figures]:
    """A play in which more was lost than time, else enough quick ones, else a slow one."""
    worse = [each for each in plays if each[1].violations and not was_only_slow(each[1])]
    quick = [each for each in plays if not was_slow(each[1])]
    return (worse or (quick if len(quick) >= QUICK.good else []) or list(plays))[-1]


def play_all(pairs: Sequence[str], at_once: int) -> dict[str, History]:
    told: list[str] = []
    days = asyncio.run(play(pairs, SCRIPT, told.append, at_once))
    return {pair: day for pair, day in days.items() if isinstance(day, History)}


def was_slow(figures: Figures) -> bool:
    return any(violation.check == IS_QUICK for violation in figures.violations)


def was_only_slow(figures: Figures) -> bool:
    """Whether time is all that was lost: how much of it was ours, a busy machine cannot tell."""
    return {violation.check for violation in figures.violations} == {IS_QUICK}


@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_is_lost_or_doubled_on_a_bad_day(
    request: pytest.FixtureRequest, days: dict[str, Day], pair: str, tell: Callable[[str], None]
) -> None:
    if pair not in days:
        for server in pair.split("+"):
            request.getfixturevalue(server)  # skips, and lets the end of the run say so
    tell(str(days[pair]))
    figures = days[pair].figures
    assert figures.broken() == [], str(days[pair])
    assert figures.ticks_due > 2 * SCRIPT.seconds
    assert figures.failovers


def test_every_kind_of_fault_came(days: dict[str, Day]) -> None:
    if len(days) < len(PAIRS):
        pytest.skip("not all pairs could be played")
    came = {kind for day in days.values() for kind, count in day.figures.faults.items() if count}
    assert came == {*Kind} - (set() if find_library() else {Kind.SKEW})
