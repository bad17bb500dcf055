"""`python -m bench [NAME ...] [--store STORE] [--quick] [-o json]`: run benchmarks.

Each benchmark is a module of this package with `TITLE` and `run(quick=...)`. Figures are printed as
they come; with `-o json` one object goes to standard output, and progress to standard error.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib import import_module
from typing import Protocol, cast

STORES = {
    "memory": ("memory_jobs",),
    "sqlite": ("sqlite_jobs", "sqlite_long_run"),
    "postgres": ("postgres_jobs", "postgres_long_run", "postgres_lists"),
    "mongo": ("mongo_jobs",),
}
"""The benchmarks of one store."""
NAMES = (
    "imports",
    "cron_next",
    "million_schedules",
    "tick_lateness",
    *(name for names in STORES.values() for name in names),
    "redis_queue",
    "worker",
    "http",
    "cluster",
    "dashboard",
    "elections",
    "deaths",
)
LONG = frozenset({"cluster", "dashboard", "deaths", "elections", "postgres_lists", "tick_lateness"})
"""Run only if they are named, because they take long."""


class Benchmark(Protocol):
    """What each benchmark module defines."""

    TITLE: str

    def run(self, *, quick: bool) -> dict[str, object]:
        """Measure, and return the figures by name."""
        ...


def main() -> int:
    arguments = _parse()
    figures: dict[str, object] = {"python": platform.python_version()}
    for name in arguments.names:
        benchmark = cast("Benchmark", import_module(f"bench.{name}"))
        print(f"{benchmark.TITLE} ...", file=sys.stderr, flush=True)
        result = benchmark.run(quick=arguments.quick)
        figures[name] = result
        if arguments.output == "text":
            _print(benchmark.TITLE, result)
    if arguments.output == "json":
        print(json.dumps(figures, indent=2))
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Run benchmarks. Figures are printed as they come; with -o json one object "
        "goes to standard output at the end, and progress to standard error.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one of {', '.join(NAMES)}; all but {' and '.join(sorted(LONG))} if none is given",
    )
    parser.add_argument("--store", choices=STORES, help="all benchmarks of one store")
    parser.add_argument("--quick", action="store_true", help="smaller numbers, rougher figures")
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="for people or for programs",
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown benchmark {min(unknown)!r}; there are {', '.join(NAMES)}")
    arguments.names += STORES.get(arguments.store, ())
    arguments.names = arguments.names or [name for name in NAMES if name not in LONG]
    return arguments


def _print(title: str, figures: dict[str, object]) -> None:
    print(f"\n{title}")
    width = max(len(name) for name in figures)
    for name, value in figures.items():
        print(f"  {name:<{width}}  {_shown(value)}")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        rows = cast("dict[str, object]", value)
        return "  ".join(f"{name} {_shown(each)}" for name, each in rows.items())
    return f"{value:,}" if isinstance(value, int | float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
