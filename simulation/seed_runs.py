"""Simulates many seeds on all cores and collects the results."""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from types import ModuleType

from drumbeat.model.errors import ConfigurationError
from simulation import rare_states
from simulation.checkers import Violation, at_the_end, by_time
from simulation.history import History, StoreKind
from simulation.randomness import stopwatch
from simulation.transcript import fingerprint
from simulation.world import World

REGRESSIONS = Path(__file__).with_name("regressions.txt")
CHUNK = 5
CHUNKS_PER_POOL = 40
"""Chunks after which all worker processes are replaced, so that memory does not grow overnight.

Python's pool has an option for this, but it can deadlock.
"""
_planted = ExitStack()


@dataclass(slots=True)
class Result:
    """The result of one seed, or the sum of many."""

    seeds: int = 0
    steps: int = 0
    messages: int = 0
    checks: int = 0
    virtual_seconds: float = 0.0
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter[str])
    states: Counter[str] = field(default_factory=Counter[str])
    violations: dict[int, list[Violation]] = field(default_factory=dict[int, list[Violation]])
    store: StoreKind = "memory"

    def add(self, other: Result) -> None:
        """Include the result of other seeds."""
        self.seeds += other.seeds
        self.steps += other.steps
        self.messages += other.messages
        self.checks += other.checks
        self.virtual_seconds += other.virtual_seconds
        self.faults.update(other.faults)
        self.states.update(other.states)
        self.violations.update(other.violations)

    @property
    def unreached(self) -> list[str]:
        """The rare states that this many seeds should have reached, and did not."""
        if self.seeds < rare_states.ENOUGH_SEEDS:
            return []
        never = rare_states.NOT_ON_SQLITE if self.store == "sqlite" else frozenset[str]()
        return [
            state for state in rare_states.STATES if state not in never and not self.states[state]
        ]


def simulate(seed: int, store: StoreKind = "memory") -> tuple[World, History, list[Violation]]:
    """Simulate one world; every violation in it."""
    return simulated(seed, store)[:3]


def simulated(
    seed: int, store: StoreKind = "memory"
) -> tuple[World, History, list[Violation], int]:
    """The same, with the number of steps that watchers checked."""
    world = World(seed, store)
    monitor = world.monitor
    history = world.run()
    broken = by_time([*monitor.broken, *at_the_end(history)])
    return world, history, broken, monitor.checked


def fingerprint_of(seed: int, store: StoreKind = "memory") -> str:
    """A digest of all steps: equal if two runs of a seed were the same."""
    return fingerprint(simulate(seed, store)[1])


def regressions() -> list[int]:
    """Seeds that once found a bug; they run first."""
    lines = REGRESSIONS.read_text(encoding="utf-8").splitlines()
    return [int(line.split()[0]) for line in lines if line.strip() and not line.startswith("#")]


def plant(file: Path) -> None:
    """Plant a bug in this process."""
    _planted.enter_context(load(file).planted())


def load(file: Path) -> ModuleType:
    """Load a planted bug: a module with a context manager `planted` and the name `CAUGHT_BY`."""
    spec = importlib.util.spec_from_file_location(f"planted_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{file} is not a Python file with a planted bug")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def store_of(bug: ModuleType) -> StoreKind:
    """The backend of the worlds in which a planted bug can be found."""
    store: StoreKind = getattr(bug, "STORE", "memory")
    return store


def run_all(
    seeds: Sequence[int],
    processes: int | None = None,
    bug: Path | None = None,
    store: StoreKind = "memory",
) -> Iterator[Result]:
    """The results of the seeds, in chunks, as soon as they are known."""
    processes = processes or os.cpu_count() or 1
    chunks = (seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK))
    while batch := list(islice(chunks, CHUNKS_PER_POOL * processes)):
        pool = pool_of(processes, bug)
        try:
            for done in as_completed([pool.submit(run_some, chunk, store) for chunk in batch]):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def pool_of(processes: int, bug: Path | None = None) -> ProcessPoolExecutor:
    """Worker processes that end with this process."""
    return ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=partial(_prepare, bug)
    )


def _prepare(bug: Path | None) -> None:
    """Let a new worker process end with its parent, however the parent ends."""
    parent = parent_process()
    if parent is not None:

        def exit_with_parent() -> None:
            parent.join()
            os._exit(1)

        Thread(target=exit_with_parent, name="exit-with-parent", daemon=True).start()
    if bug is not None:
        plant(bug)


def run_some(seeds: Sequence[int], store: StoreKind = "memory") -> Result:
    """Simulate a few seeds in this process."""
    total = Result(store=store)
    started = stopwatch()
    for seed in seeds:
        world, history, broken, checks = simulated(seed, store)
        total.add(
            Result(
                1,
                world.loop.steps,
                world.network.messages,
                checks,
                history.ended_at,
                faults=Counter({str(kind): times for kind, times in history.faults.items()}),
                states=rare_states.reached(history),
                violations={seed: broken} if broken else {},
            )
        )
    total.seconds = stopwatch() - started
    return total
