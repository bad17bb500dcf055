"""Plants mutants in copies of the project and runs the tests that have to find them."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from mutants.mutant import Mutant

ROOT = Path(__file__).parents[1]
COPIED = ("src", "tests", "servers", "chaos", "bench", "examples", "docs", "deploy", "scripts")
TIME_LIMIT = 900.0
"""Seconds for the tests of one mutant. A test that never ends has found the mutant too."""
TESTS_FAILED = 1
"""The exit code of pytest when tests ran and some failed; others mean that it could not run."""


class Verdict(StrEnum):
    """The result of testing a mutant."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    UNPROVEN = "unproven"
    """The tests do not run, or fail without the mutant as well."""


@dataclass(frozen=True, slots=True)
class Result:
    """A mutant and its verdict."""

    mutant: Mutant
    verdict: Verdict
    detail: str
    """The first test that failed, or why nothing was proven."""


class Copy:
    """A copy of the project in which one mutant at a time is planted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__", "*.db*")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy2(path, folder / path.name)
        if (tools := ROOT / ".tools").exists():
            (folder / ".tools").symlink_to(tools)  # installed servers

    def judge(self, mutant: Mutant) -> Result:
        """Plant the mutant, run its tests, and remove it again."""
        path = self._folder / mutant.file
        source = path.read_text()
        path.write_text(mutant.plant(source))
        try:
            code, failed = self.run(mutant.tests)
        finally:
            path.write_text(source)
        if code == 0:
            return Result(mutant, Verdict.SURVIVED, "all of its tests passed")
        if code == TESTS_FAILED:
            return Result(mutant, Verdict.CAUGHT, failed)
        return Result(mutant, Verdict.UNPROVEN, failed)

    def run(self, tests: Sequence[str]) -> tuple[int, str]:
        """Run tests until one fails: the exit code, and the line that says why."""
        environment = os.environ | {"PYTHONPATH": str(self._folder / "src")}
        command = (sys.executable, "-m", "pytest", "-x", "-q", "--no-header", *tests)
        try:
            done = subprocess.run(
                command,
                cwd=self._folder,
                env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return TESTS_FAILED, f"no end within {TIME_LIMIT:.0f} s"
        lines = done.stdout.splitlines() or done.stderr.splitlines() or [""]
        summary = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        return done.returncode, (summary or lines)[-1]


def run_all(
    mutants: Sequence[Mutant], processes: int, report: Callable[[Result], None]
) -> Sequence[Result]:
    """Test all mutants, several at a time, each in its own copy."""
    with TemporaryDirectory(prefix="drumbeat-mutants-") as folder:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(processes):
            copies.put(Copy(Path(folder, str(number))))

        def judge(mutant: Mutant) -> Result:
            copy = copies.get()
            try:
                result = copy.judge(mutant)
            finally:
                copies.put(copy)
            report(result)
            return result

        copy = copies.get()
        broken = _failing_without_a_mutant(copy, (mutant.tests for mutant in mutants))
        copies.put(copy)
        judged = [mutant for mutant in mutants if mutant.tests not in broken]
        with ThreadPoolExecutor(processes) as pool:
            results = list(pool.map(judge, judged))
    for mutant in mutants:
        if mutant.tests in broken:
            why = f"its tests fail without it: {broken[mutant.tests]}"
            results.append(Result(mutant, Verdict.UNPROVEN, why))
            report(results[-1])
    return results


def _failing_without_a_mutant(
    copy: Copy, selections: Iterable[tuple[str, ...]]
) -> dict[tuple[str, ...], str]:
    """Selections of tests that fail without a mutant, and so prove nothing."""
    distinct = dict.fromkeys(selections)
    everything = dict.fromkeys(test for selection in distinct for test in selection)
    code, _ = copy.run(tuple(everything))
    if code == 0:
        return {}
    broken: dict[tuple[str, ...], str] = {}
    for selection in distinct:
        code, failed = copy.run(selection)
        if code != 0:
            broken[selection] = failed
    return broken
