"""`python -m simulation`: simulate many seeds, or print the transcript of one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import click

from drumbeat.model.errors import ConfigurationError
from simulation import report, seed_runs
from simulation.bug_search import BugSearch, planted_bugs_in, search_all
from simulation.history import StoreKind
from simulation.transcript import transcript

FAILED = Path("simulation-failures.txt")
BUGS = Path("tests/simulation/planted")
NO_SEED = "--planted searches all seeds; leave --seed out"


@click.command()
@click.option("--seed", type=int, help="Simulate only this seed, and print its violations.")
@click.option("-v", "--verbose", is_flag=True, help="With --seed: print the whole transcript.")
@click.option(
    "--store",
    type=click.Choice(get_args(StoreKind)),
    default="memory",
    show_default=True,
    help="The store and coordinator backend of the simulated worlds.",
)
@click.option(
    "--seeds", type=click.IntRange(1), default=500, show_default=True, help="How many seeds."
)
@click.option("--first", type=int, default=0, show_default=True, help="The first seed.")
@click.option(
    "--processes",
    "--workers",
    type=click.IntRange(1),
    help="Worker processes; one for each core by default.",
)
@click.option("--stop-early", is_flag=True, help="Stop at the first seed with a violation.")
@click.option(
    "--failed",
    type=click.Path(dir_okay=False, path_type=Path),
    default=FAILED,
    show_default=True,
    help="The file to which seeds with violations are appended.",
)
@click.option(
    "--plant",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with a planted bug that the run should find.",
)
@click.option(
    "--planted", is_flag=True, help="Search for all planted bugs and print what found each."
)
@click.option(
    "--bugs",
    type=click.Path(file_okay=False, path_type=Path),
    default=BUGS,
    show_default=True,
    help="With --planted: the folder of planted bugs.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text")
def main(
    *,
    seed: int | None,
    verbose: bool,
    store: StoreKind,
    seeds: int,
    first: int,
    processes: int | None,
    stop_early: bool,
    failed: Path,
    plant: Path | None,
    planted: bool,
    bugs: Path,
    output: str,
) -> None:
    """Simulate a fleet under faults, in one virtual world for each seed."""
    if planted:
        if seed is not None:
            raise click.UsageError(NO_SEED)
        sys.exit(_search_planted_bugs(bugs, processes, seeds, output))
    if seed is not None:
        if plant is not None:
            seed_runs.plant(plant)
        sys.exit(_replay(seed, store, verbose=verbose))
    known = seed_runs.regressions() if store == "memory" else []
    wanted = [*known, *(each for each in range(first, first + seeds) if each not in known)]
    total = seed_runs.Result(store=store)
    progress = report.Progress(len(wanted))
    for result in seed_runs.run_all(wanted, processes, plant, store):
        total.add(result)
        if plant is None:
            report.keep(failed, result)
        _print_violations(result, plant)
        progress.show(total)
        if stop_early and total.violations:
            break
    total.seconds = progress.seconds
    click.echo(err=True)
    click.echo(report.as_json(total, plant) if output == "json" else report.text(total, plant))
    sys.exit(1 if total.violations or (total.unreached and not plant) else 0)


def _replay(seed: int, store: StoreKind, *, verbose: bool) -> int:
    _, history, broken = seed_runs.simulate(seed, store)
    if verbose:
        apart = "; each node has its own store" if history.separate_stores else ""
        click.echo(f"seed {seed}; faults: {', '.join(sorted(history.kinds)) or 'none'}{apart}")
        for line in transcript(history):
            click.echo(line)
    for violation in broken:
        click.echo(str(violation))
    if not broken:
        click.echo(f"seed {seed}: nothing broken in {history.ended_at:.0f} virtual seconds")
    return 1 if broken else 0


def _search_planted_bugs(bugs: Path, processes: int | None, within: int, output: str) -> int:
    found: list[BugSearch] = []
    try:
        planted = planted_bugs_in(bugs)
    except ConfigurationError as error:
        raise click.UsageError(str(error)) from error
    for each in search_all(planted, processes, within):
        found.append(each)
        click.echo(f"{each.bug}: {each.first or 'not found'}", err=True)
    click.echo(
        report.bug_search_json(found) if output == "json" else report.bug_search_text(found, within)
    )
    return 0 if all(each.caught for each in found) else 1


def _print_violations(result: seed_runs.Result, plant: Path | None) -> None:
    """Print them as soon as they are found, because a long run may be interrupted."""
    for seed, broken in sorted(result.violations.items()):
        click.echo(f"\r{broken[0]}\n  {report.replay(seed, result.store, plant)}", err=True)


if __name__ == "__main__":
    main()
