"""`python -m chaos`: run fleets under faults, print the results and draw a picture."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from chaos.day import Script
from chaos.figures import Figures, figures_of, total
from chaos.history import History
from chaos.page import write_page
from chaos.pairs import PAIRS, all_pairs
from chaos.playing import play
from chaos.table import markdown, table

SECONDS = 60.0
WIDE = 200
"""Columns of the table where no terminal says how many there are."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what was asked for; 1 if any promise was broken."""
    asked = parse(arguments)
    logging.getLogger("drumbeat").setLevel(logging.CRITICAL)  # bad days are expected here
    talk = Console(stderr=True, highlight=False, soft_wrap=True)
    script = Script(asked.minutes * SECONDS / len(asked.pairs), asked.nodes, asked.ttl, asked.seed)
    talk.print(f"seed {asked.seed}: {script.seconds:.0f} s on each of {', '.join(asked.pairs)}")
    played = asyncio.run(play(asked.pairs, script, talk.print, asked.at_once))
    days = [day for day in played.values() if isinstance(day, History)]
    figures = [figures_of(day) for day in days]
    page = write_page(Path(asked.folder), list(zip(days, figures, strict=True)))
    show(figures, asked.output, command_of(asked))
    talk.print(f"the picture is in {page}")
    return 1 if any(each.violations for each in figures) or not days else 0


def show(figures: Sequence[Figures], output: str, command: str) -> None:
    """Print the figures, and how to play the same again."""
    if output == "json":
        document = {
            "days": [each.document() for each in figures],
            "total": total(figures).document(),
            "again": command,
        }
        print(json.dumps(document, indent=2))
        return
    if output == "markdown":
        print(markdown(figures))
        return
    wide = None if sys.stdout.isatty() else WIDE
    console = Console(highlight=False, soft_wrap=True, width=wide)
    console.print(table(figures))
    for day in figures:
        for sentence in day.broken():
            console.print(f"BROKEN: {sentence}", style="red")
        for sentence in day.left_out:
            console.print(f"LEFT OUT: {day.pair}: {sentence}", style="yellow")
    console.print(f"the same faults again: {command}")


def command_of(asked: argparse.Namespace) -> str:
    """What draws the same faults again."""
    pairs = ",".join(asked.pairs)
    return (
        f"python -m chaos --pairs {pairs} --minutes {asked.minutes:g} --nodes {asked.nodes} "
        f"--ttl {asked.ttl:g} --seed {asked.seed}"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What is asked for; with a seed, also if none was given."""
    parser = argparse.ArgumentParser(
        prog="python -m chaos",
        description="Play bad days, print what came of them, and draw a picture.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    known = ", ".join(all_pairs())
    parser.add_argument("--pairs", default=",".join(PAIRS), help=f"all, or some of {known}")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, over all pairs")
    parser.add_argument("--nodes", type=int, default=5, help="how many nodes a fleet has")
    parser.add_argument("--ttl", type=float, default=2.0, help="how long a lease lasts, in seconds")
    parser.add_argument("--at-once", type=int, default=1, help="how many fleets run at a time")
    parser.add_argument(
        "--seed", type=int, default=argparse.SUPPRESS, help="draws the same faults again"
    )
    parser.add_argument("--folder", default="chaos-report", help="where the picture goes")
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "markdown"),
        default="text",
        help="for people, for programs, or for a page",
    )
    asked = parser.parse_args(arguments)
    asked.pairs = list(all_pairs()) if asked.pairs == "all" else asked.pairs.split(",")
    if unknown := [pair for pair in asked.pairs if pair not in all_pairs()]:
        parser.error(f"unknown pair {unknown[0]!r}; there are {known}")
    if asked.nodes < 2 or asked.minutes <= 0:
        parser.error("a fleet has at least 2 nodes, and a day takes some time")
    if "seed" not in asked:
        asked.seed = secrets.randbelow(10**6)
    return asked


if __name__ == "__main__":
    sys.exit(main())
