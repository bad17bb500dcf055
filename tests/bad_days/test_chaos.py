"""Two minutes of chaos: a fleet on each pair, a nemesis, and the checks.

`make chaos` plays longer days of more nodes. Both end with a table and with a picture, which is
kept in `chaos-report/`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from chaos.day import Script
from chaos.figures import Figures, figures_of
from chaos.history import History, Kind
from chaos.page import write_page
from chaos.pairs import PAIRS
from chaos.playing import play
from chaos.wrong_clock import find_library
from servers import Missing

from .conftest import chaos_table

SCRIPT = Script(seconds=24.0, nodes=3, seed=221)
"""Always the same faults, so that what it says is about the change. Its seed draws every kind."""
AT_ONCE = 2
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(400)  # the first of these tests plays all days


@pytest.fixture(scope="module")
def days(pytestconfig: pytest.Config) -> dict[str, Figures | Missing]:
    told: list[str] = []
    played = asyncio.run(play(PAIRS, SCRIPT, told.append, AT_ONCE))
    judged = [(day, figures_of(day)) for day in played.values() if isinstance(day, History)]
    write_page(ROOT / "chaos-report", judged)
    pytestconfig.stash[chaos_table] = [figures for _, figures in judged]
    missing = {pair: day for pair, day in played.items() if isinstance(day, Missing)}
    return {figures.pair: figures for _, figures in judged} | missing


@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_is_lost_or_doubled_on_a_bad_day(
    request: pytest.FixtureRequest, days: dict[str, Figures | Missing], pair: str
) -> None:
    figures = days[pair]
    if isinstance(figures, Missing):
        for server in pair.split("+"):
            request.getfixturevalue(server)  # skips, and lets the end of the run say so
        raise figures
    assert figures.broken() == []
    assert figures.ticks_due > 2 * SCRIPT.seconds
    assert figures.failovers


def test_every_kind_of_fault_came(days: dict[str, Figures | Missing]) -> None:
    played = [day for day in days.values() if isinstance(day, Figures)]
    if len(played) < len(PAIRS):
        pytest.skip("not all pairs could be played")
    came = {kind for day in played for kind, count in day.faults.items() if count}
    assert came == {*Kind} - (set() if find_library() else {Kind.SKEW})
