"""`python -m chaos`: run fleets under faults, print the results and draw a timeline."""

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

from chaos.chaos_run import RunSettings, run_pairs
from chaos.figures import Figures, figures_of, total
from chaos.history import History
from chaos.page import write_page
from chaos.pairs import PAIRS, all_pairs
from chaos.table import markdown, table

SECONDS = 60.0
WIDE = 200
"""Columns of the table if the output is not a terminal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the requested runs; 1 if any promise was broken."""
    asked = parse(arguments)
    logging.getLogger("drumbeat").setLevel(logging.CRITICAL)  # errors are expected here
    talk = Console(stderr=True, highlight=False, soft_wrap=True)
    settings = RunSettings(
        asked.minutes * SECONDS / len(asked.pairs), asked.nodes, asked.ttl, asked.seed
    )
    talk.print(f"seed {asked.seed}: {settings.seconds:.0f} s on each of {', '.join(asked.pairs)}")
    results = asyncio.run(run_pairs(asked.pairs, settings, talk.print, asked.at_once))
    histories = [each for each in results.values() if isinstance(each, History)]
    figures = [figures_of(history) for history in histories]
    page = write_page(Path(asked.folder), list(zip(histories, figures, strict=True)))
    show(figures, asked.output, command_of(asked))
    talk.print(f"the report is in {page}")
    return 1 if any(each.violations for each in figures) or not histories else 0


def show(figures: Sequence[Figures], output: str, command: str) -> None:
    """Print the figures, and the command that repeats the faults."""
    if output == "json":
        document = {
            "runs": [each.document() for each in figures],
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
    for run in figures:
        for sentence in run.broken():
            console.print(f"BROKEN: {sentence}", style="red")
        for sentence in run.left_out:
            console.print(f"LEFT OUT: {run.pair}: {sentence}", style="yellow")
    console.print(f"the same faults again: {command}")


def command_of(asked: argparse.Namespace) -> str:
    """The command that repeats the faults."""
    pairs = ",".join(asked.pairs)
    return (
        f"python -m chaos --pairs {pairs} --minutes {asked.minutes:g} --nodes {asked.nodes} "
        f"--ttl {asked.ttl:g} --seed {asked.seed}"
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line; the seed is random if none is given."""
    parser = argparse.ArgumentParser(
        prog="python -m chaos",
        description="Run fleets under faults, print the results, and write a report.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    known = ", ".join(all_pairs())
    parser.add_argument("--pairs", default=",".join(PAIRS), help=f"all, or some of {known}")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, over all pairs")
    parser.add_argument("--nodes", type=int, default=5, help="how many nodes a fleet has")
    parser.add_argument("--ttl", type=float, default=2.0, help="how long a lease lasts, in seconds")
    parser.add_argument("--at-once", type=int, default=1, help="how many fleets run at a time")
    parser.add_argument(
        "--seed", type=int, default=argparse.SUPPRESS, help="repeats the faults of an earlier run"
    )
    parser.add_argument("--folder", default="chaos-report", help="where to write the report")
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "markdown"),
        default="text",
        help="for people, for programs, or for a page of the docs",
    )
    asked = parser.parse_args(arguments)
    asked.pairs = list(all_pairs()) if asked.pairs == "all" else asked.pairs.split(",")
    if unknown := [pair for pair in asked.pairs if pair not in all_pairs()]:
        parser.error(f"unknown pair {unknown[0]!r}; there are {known}")
    if asked.nodes < 2 or asked.minutes <= 0:
        parser.error("a fleet has at least 2 nodes, and the minutes must be positive")
    if "seed" not in asked:
        asked.seed = secrets.randbelow(10**6)
    return asked


if __name__ == "__main__":
    sys.exit(main())
