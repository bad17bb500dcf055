"""Two minutes of chaos: a fleet on each pair, a nemesis, and the checks.

`make chaos` plays longer days of more nodes. Both end with a table and with a picture, which is
kept in `chaos-report/`.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
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

SCRIPT = Script(seconds=24.0, nodes=3, seed=221)
"""Always the same faults, so that what it says is about the change. Its seed draws every kind."""
AT_ONCE = 2
ROOT = Path(__file__).parents[2]

TRIES = 3
"""How often a day is played on a machine that may be too busy for a quick failover."""

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
    figures: dict[str, Figures] = pickle.loads(kept.read_bytes())
    pytestconfig.stash[chaos_table] = [*figures.values()]
    return figures


def played() -> dict[str, Figures]:
    """Play a day on each pair whose servers are installed."""
    histories = play_all(PAIRS, AT_ONCE)
    for _ in range(1, TRIES):
        slow = [pair for pair, day in histories.items() if was_only_slow(figures_of(day))]
        histories |= play_all(slow, at_once=1)
    judged = {pair: (day, figures_of(day)) for pair, day in histories.items()}
    write_page(ROOT / "chaos-report", [*judged.values()])
    return {pair: figures for pair, (_, figures) in judged.items()}


def play_all(pairs: Sequence[str], at_once: int) -> dict[str, History]:
    told: list[str] = []
    days = asyncio.run(play(pairs, SCRIPT, told.append, at_once))
    return {pair: day for pair, day in days.items() if isinstance(day, History)}


def was_only_slow(figures: Figures) -> bool:
    """Whether time is all that was lost: how much of it was ours, a busy machine cannot tell."""
    broken = {violation.check for violation in figures.violations}
    return broken == {"failover is quick"}


@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_is_lost_or_doubled_on_a_bad_day(
    request: pytest.FixtureRequest, days: dict[str, Figures], pair: str
) -> None:
    if pair not in days:
        for server in pair.split("+"):
            request.getfixturevalue(server)  # skips, and lets the end of the run say so
    figures = days[pair]
    assert figures.broken() == []
    assert figures.ticks_due > 2 * SCRIPT.seconds
    assert figures.failovers


def test_every_kind_of_fault_came(days: dict[str, Figures]) -> None:
    if len(days) < len(PAIRS):
        pytest.skip("not all pairs could be played")
    came = {kind for day in days.values() for kind, count in day.faults.items() if count}
    assert came == {*Kind} - (set() if find_library() else {Kind.SKEW})
