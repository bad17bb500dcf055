"""`python -m drumbeat.testing.simulation`: runs seeds, or tells the story of one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from drumbeat.testing.simulation import runs
from drumbeat.testing.simulation.chance import stopwatch
from drumbeat.testing.simulation.story import story

REPLAY = "python -m drumbeat.testing.simulation --seed {seed} -v"
SHOWN = 5


@click.command()
@click.option("--seed", type=int, help="Run this one seed, and say what was broken.")
@click.option("-v", "--verbose", is_flag=True, help="With --seed: tell the whole story.")
@click.option("--seeds", type=click.IntRange(1), default=500, show_default=True, help="How many.")
@click.option("--first", type=int, default=0, show_default=True, help="The first of them.")
@click.option("--workers", type=click.IntRange(1), help="Processes; as many as cores if not given.")
@click.option("--stop-early", is_flag=True, help="Stop at the first seed that finds something.")
@click.option(
    "--plant",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with a planted bug that should be found.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text")
def main(
    seed: int | None,
    verbose: bool,  # noqa: FBT001 - options arrive as they are
    seeds: int,
    first: int,
    workers: int | None,
    stop_early: bool,  # noqa: FBT001 - as above
    plant: Path | None,
    output: str,
) -> None:
    """Simulate a fleet under faults, one virtual world for each seed."""
    if seed is not None:
        if plant is not None:
            runs.plant(plant)
        sys.exit(_replay(seed, verbose=verbose))
    known = runs.regressions()
    wanted = [each for each in range(first, first + seeds) if each not in known]
    total = runs.Result()
    started = stopwatch()
    for result in runs.run_all(known + wanted, workers, plant):
        total.add(result)
        _report(result, plant)
        _progress(total, len(known) + len(wanted))
        if stop_early and total.violations:
            break
    total.seconds = stopwatch() - started
    click.echo(err=True)
    click.echo(_json(total, plant) if output == "json" else _text(total, plant))
    sys.exit(1 if total.violations or (total.unreached and not plant) else 0)


def _replay(seed: int, *, verbose: bool) -> int:
    _, history, broken = runs.simulate(seed)
    if verbose:
        click.echo(f"seed {seed}; faults: {', '.join(sorted(history.kinds)) or 'none'}")
        for line in story(history):
            click.echo(line)
    for violation in broken:
        click.echo(str(violation))
    if not broken:
        click.echo(f"seed {seed}: nothing broken in {history.ended_at:.0f} virtual seconds")
    return 1 if broken else 0


def _report(result: runs.Result, plant: Path | None) -> None:
    """Say at once what was found: a long run may be cut short."""
    for seed, broken in sorted(result.violations.items()):
        click.echo(f"\r{broken[0]}\n  {_replay_command(seed, plant)}", err=True)


def _progress(total: runs.Result, seeds: int) -> None:
    click.echo(
        f"\r{total.seeds}/{seeds} seeds, {len(total.violations)} with violations",
        nl=False,
        err=True,
    )


def _text(total: runs.Result, plant: Path | None) -> str:
    hours = total.virtual_seconds / 3600
    faults = ", ".join(f"{kind} {times:,}" for kind, times in sorted(total.faults.items()))
    lines = [
        f"seeds       {total.seeds:,} ({_rate(total):,.0f} a minute)",
        f"virtual     {hours:.1f} hours, {total.steps:,} steps, {total.messages:,} messages",
        f"faults      {faults}",
        f"rare states {len(total.states)} reached",
        *(f"            never: {state}" for state in total.unreached),
        f"violations  {sum(map(len, total.violations.values()))}",
    ]
    for seed, broken in sorted(total.violations.items())[:SHOWN]:
        lines += [f"seed {seed}: {broken[0]}", f"  {_replay_command(seed, plant)}"]
    return "\n".join(lines)


def _json(total: runs.Result, plant: Path | None) -> str:
    return json.dumps(
        {
            "seeds": total.seeds,
            "seeds_per_minute": round(_rate(total)),
            "virtual_hours": round(total.virtual_seconds / 3600, 2),
            "steps": total.steps,
            "messages": total.messages,
            "faults": dict(sorted(total.faults.items())),
            "states": dict(sorted(total.states.items())),
            "unreached": total.unreached,
            "violations": [
                {
                    "seed": seed,
                    "invariants": sorted({each.invariant for each in broken}),
                    "first": str(broken[0]),
                    "replay": _replay_command(seed, plant),
                }
                for seed, broken in sorted(total.violations.items())
            ],
        },
        indent=2,
    )


def _rate(total: runs.Result) -> float:
    return total.seeds / total.seconds * 60 if total.seconds else 0.0


def _replay_command(seed: int, plant: Path | None) -> str:
    command = REPLAY.format(seed=seed)
    return f"{command} --plant {plant}" if plant else command


if __name__ == "__main__":
    main()
