"""The output of chaos without a terminal, as in the log of CI."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from chaos.__main__ import command_of, parse, show
from chaos.figures import figures_of
from chaos.pairs import PAIRS
from tests.chaos.test_checks import good_history


def test_the_table_is_not_cut_and_the_command_is_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = parse(["--minutes", "1", "--ttl", "3", "--seed", "7"])
    figures = [figures_of(replace(good_history(), pair=pair)) for pair in PAIRS]
    show(figures, "text", command_of(asked))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [*PAIRS, "all"]
    assert any(line.startswith("late endings refused ") for line in lines)
    (again,) = [line for line in lines if "python -m chaos" in line]
    words = shlex.split(again.partition("python -m chaos")[2])
    assert vars(parse(words)) == vars(asked), "a lease of another length has other faults"
