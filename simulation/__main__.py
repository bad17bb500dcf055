"""`python -m simulation`: runs seeds, or tells the story of one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import click

from drumbeat.model.errors import ConfigurationError
from simulation import report, runs
from simulation.history import StoreKind
from simulation.hunting import Hunt, hunt_all, planted_in
from simulation.story import story

FAILED = Path("simulation-failures.txt")
BUGS = Path("tests/simulation/planted")
NO_SEED = "planted bugs are hunted over all seeds; leave --seed out"


@click.command()
@click.option("--seed", type=int, help="Run this one seed, and say what was broken.")
@click.option("-v", "--verbose", is_flag=True, help="With --seed: tell the whole story.")
@click.option(
    "--store",
    type=click.Choice(get_args(StoreKind)),
    default="memory",
    show_default=True,
    help="The backend of the worlds, as store and as coordinator.",
)
@click.option("--seeds", type=click.IntRange(1), default=500, show_default=True, help="How many.")
@click.option("--first", type=int, default=0, show_default=True, help="The first of them.")
@click.option(
    "--processes",
    "--workers",
    type=click.IntRange(1),
    help="How many run at once; as many as cores if not given.",
)
@click.option("--stop-early", is_flag=True, help="Stop at the first seed that finds something.")
@click.option(
    "--failed",
    type=click.Path(dir_okay=False, path_type=Path),
    default=FAILED,
    show_default=True,
    help="The file to which seeds that find something are added.",
)
@click.option(
    "--plant",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with a planted bug that should be found.",
)
@click.option("--planted", is_flag=True, help="Hunt every planted bug, and say what found it.")
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
    """Simulate a fleet under faults, one virtual world for each seed."""
    if planted:
        if seed is not None:
            raise click.UsageError(NO_SEED)
        sys.exit(_hunt(bugs, processes, seeds, output))
    if seed is not None:
        if plant is not None:
            runs.plant(plant)
        sys.exit(_replay(seed, store, verbose=verbose))
    known = runs.regressions() if store == "memory" else []
    wanted = [*known, *(each for each in range(first, first + seeds) if each not in known)]
    total = runs.Result(store=store)
    progress = report.Progress(len(wanted))
    for result in runs.run_all(wanted, processes, plant, store):
        total.add(result)
        if plant is None:
            report.keep(failed, result)
        _say(result, plant)
        progress.tell(total)
        if stop_early and total.violations:
            break
    total.seconds = progress.seconds
    click.echo(err=True)
    click.echo(report.as_json(total, plant) if output == "json" else report.text(total, plant))
    sys.exit(1 if total.violations or (total.unreached and not plant) else 0)


def _replay(seed: int, store: StoreKind, *, verbose: bool) -> int:
    _, history, broken = runs.simulate(seed, store)
    if verbose:
        apart = "; each node has a store of its own" if history.apart else ""
        click.echo(f"seed {seed}; faults: {', '.join(sorted(history.kinds)) or 'none'}{apart}")
        for line in story(history):
            click.echo(line)
    for violation in broken:
        click.echo(str(violation))
    if not broken:
        click.echo(f"seed {seed}: nothing broken in {history.ended_at:.0f} virtual seconds")
    return 1 if broken else 0


def _hunt(bugs: Path, processes: int | None, within: int, output: str) -> int:
    found: list[Hunt] = []
    try:
        planted = planted_in(bugs)
    except ConfigurationError as error:
        raise click.UsageError(str(error)) from error
    for each in hunt_all(planted, processes, within):
        found.append(each)
        click.echo(f"{each.bug}: {each.first or 'not found'}", err=True)
    click.echo(report.hunted_json(found) if output == "json" else report.hunted(found, within))
    return 0 if all(each.caught for each in found) else 1


def _say(result: runs.Result, plant: Path | None) -> None:
    """Say at once what was found: a long run may be cut short."""
    for seed, broken in sorted(result.violations.items()):
        click.echo(f"\r{broken[0]}\n  {report.replay(seed, result.store, plant)}", err=True)


if __name__ == "__main__":
    main()
