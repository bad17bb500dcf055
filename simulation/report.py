"""Reports the results of many seeds as text and JSON, and the progress of a long run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from drumbeat.model.text import counted
from simulation.bug_search import BugSearch
from simulation.history import StoreKind
from simulation.randomness import stopwatch
from simulation.rare_states import STATES
from simulation.seed_runs import Result

REPLAY = "python -m simulation --seed {seed} -v"
SHOWN = 5
KEPT = 20
"""The maximum number of violations of one seed in the JSON report."""


class Progress:
    """Prints the progress and the remaining time, in one line on a terminal, rarely in a log."""

    def __init__(self, seeds: int) -> None:
        self._seeds = seeds
        self._started = stopwatch()
        self._shown_at = 0.0
        on_terminal = sys.stderr.isatty()
        self._every = 1.0 if on_terminal else 30.0
        self._form = "\r{:<70}" if on_terminal else "{}\n"

    @property
    def seconds(self) -> float:
        return stopwatch() - self._started

    def show(self, total: Result) -> None:
        """Print a line at intervals, and at the end."""
        seconds = self.seconds
        if seconds - self._shown_at < self._every and total.seeds < self._seeds:
            return
        self._shown_at = seconds
        left = seconds / total.seeds * (self._seeds - total.seeds) if total.seeds else 0.0
        failed = f", {len(total.violations)} with violations" if total.violations else ""
        line = f"{total.seeds:,}/{self._seeds:,} seeds{failed}, {_span(left)} left"
        sys.stderr.write(self._form.format(line))
        sys.stderr.flush()


def keep(file: Path, result: Result) -> None:
    """Append seeds with violations to a file at once: a long run may be interrupted."""
    if result.violations:
        with file.open("a", encoding="utf-8") as kept:
            for seed, broken in sorted(result.violations.items()):
                kept.write(f"{seed} {broken[0]}\n")


def text(total: Result, plant: Path | None = None) -> str:
    hours = total.virtual_seconds / 3600
    faults = ", ".join(f"{kind} {times:,}" for kind, times in sorted(total.faults.items()))
    lines = [
        f"seeds       {total.seeds:,} ({rate(total):,.0f} a minute)",
        f"virtual     {hours:.1f} hours, {total.steps:,} steps, {total.messages:,} messages",
        f"checks      {total.checks:,} at single steps, and the others at the end of each world",
        f"faults      {faults}",
        f"rare states {len(total.states)} of {len(STATES)} reached",
        *(f"            never: {state}" for state in total.unreached),
        f"violations  {_violations(total)}",
    ]
    for seed, broken in sorted(total.violations.items())[:SHOWN]:
        lines += [f"seed {seed}: {broken[0]}", f"  {replay(seed, total.store, plant)}"]
    if len(total.violations) > SHOWN:
        lines.append(f"and {len(total.violations) - SHOWN} more seeds")
    return "\n".join(lines)


def as_json(total: Result, plant: Path | None = None) -> str:
    return json.dumps(
        {
            "store": total.store,
            "seeds": total.seeds,
            "seeds_per_minute": round(rate(total)),
            "virtual_hours": round(total.virtual_seconds / 3600, 2),
            "steps": total.steps,
            "messages": total.messages,
            "checks": total.checks,
            "faults": dict(sorted(total.faults.items())),
            "states": dict(sorted(total.states.items())),
            "unreached": total.unreached,
            "violations": [
                {
                    "seed": seed,
                    "invariants": sorted({each.invariant for each in broken}),
                    "first": str(broken[0]),
                    "all": [str(each) for each in broken[:KEPT]],
                    "replay": replay(seed, total.store, plant),
                }
                for seed, broken in sorted(total.violations.items())
            ],
        },
        indent=2,
    )


def bug_search_text(searches: Sequence[BugSearch], within: int) -> str:
    """A table of the planted bugs: after how many seeds each was caught, and by which promise."""
    wide = max(len(each.bug) for each in searches)
    lines = [f"{'planted bug':<{wide}}  seeds  caught by"]
    for each in sorted(searches, key=lambda each: (each.seed is None, each.seed, each.bug)):
        if each.seed is None:
            lines.append(f"{each.bug:<{wide}}  {'-':>5}  nothing within {within} seeds")
        else:
            named = ", ".join(each.named)
            other = "" if each.caught else f" (expected {', '.join(each.expected)})"
            lines.append(f"{each.bug:<{wide}}  {each.seed + 1:>5}  {named}{other}")
    caught = sum(each.caught for each in searches)
    return "\n".join([*lines, f"caught      {caught} of {len(searches)}"])


def bug_search_json(searches: Sequence[BugSearch]) -> str:
    return json.dumps(
        [
            {
                "bug": each.bug,
                "caught": each.caught,
                "seeds": None if each.seed is None else each.seed + 1,
                "invariants": each.named,
                "expected": each.expected,
                "first": each.first,
            }
            for each in sorted(searches, key=lambda each: each.bug)
        ],
        indent=2,
    )


def rate(total: Result) -> float:
    """Seeds per minute."""
    return total.seeds / total.seconds * 60 if total.seconds else 0.0


def replay(seed: int, store: StoreKind, plant: Path | None) -> str:
    """The command that reproduces a violation."""
    command = REPLAY.format(seed=seed) + ("" if store == "memory" else f" --store {store}")
    return f"{command} --plant {plant}" if plant else command


def _violations(total: Result) -> str:
    found = sum(map(len, total.violations.values()))
    return f"{found} in {counted(len(total.violations), 'seed')}" if found else "0"


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
