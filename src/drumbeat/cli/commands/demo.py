"""`drumbeat demo`: a local fleet of real processes that loses its leader, and a proof."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from drumbeat.cli.command import make_command
from drumbeat.cli.exit_codes import Exit
from drumbeat.cli.options.option import seconds, text, whole
from drumbeat.cli.output.output import Output
from drumbeat.cli.output.tables import table
from drumbeat.cli.session.session import STORE, Session
from drumbeat.demo.proof import Proof
from drumbeat.demo.story import DemoScript, Glimpse, Story
from drumbeat.model.jobs.job import Status

if TYPE_CHECKING:
    from collections.abc import Callable


@make_command(
    "demo",
    whole(
        "--nodes",
        "How many nodes schedule and work; two more only work.",
        least=3,
        most=20,
        default=3,
    ),
    seconds("--seconds", "How long the demo takes.", least=10.0, default=30.0),
    seconds("--ttl", "How long a leader may be silent.", least=1.0, most=60.0, default=3.0),
    text("--coordinator", "URL", "Elects the leader. [default: the store]"),
    text("--queue", "URL", "Carries the tickets of the jobs. [default: the store]"),
)
def command(session: Session, nodes: int, seconds: float, ttl: float, **addresses: Any) -> int:
    """Start a fleet, kill its leader, pause the next one, and prove that no tick was lost.

    Runs real processes on a temporary SQLite file, or on the store that --store names, in their own
    namespace. The exit code is 0 only if nothing was lost or doubled.

    Example:
      drumbeat demo
      drumbeat demo --seconds 60 --nodes 5
      drumbeat demo --store postgresql://localhost/demo --coordinator etcd://localhost:2379
      drumbeat demo --store postgresql://localhost/demo --queue redis://localhost:6379
      drumbeat demo -o json
    """
    store = session.settings.get(STORE)
    script = DemoScript(nodes, seconds=seconds, ttl=ttl, store=store, **addresses)
    with _watching(session.output, seconds) as (say, show):
        proof = asyncio.run(Story(script, say, show).play())
    session.output.show(asdict(proof), _proof(proof))
    return Exit.OK if proof.holds else Exit.FAILED


@contextmanager
def _watching(
    output: Output, seconds: float
) -> Generator[tuple[Callable[[str], None], Callable[[Glimpse], None]]]:
    """The functions that report progress: a live view on a terminal, else plain lines."""
    if not sys.stderr.isatty():
        yield output.say, lambda _: None
        return
    with Live(console=output.error_console(), refresh_per_second=10, transient=True) as live:

        def say(sentence: str) -> None:
            live.console.print(sentence)

        yield say, lambda glimpse: live.update(_view(glimpse, seconds))


def _view(glimpse: Glimpse, seconds: float) -> RenderableType:
    done = min(1.0, glimpse.elapsed / seconds)
    bar = "━" * round(40 * done) + "╌" * (40 - round(40 * done))
    jobs = "  ".join(f"{status} {glimpse.jobs[status]:,}" for status in Status)
    processes = "  ".join(
        f"[{label}]" if label == glimpse.leader else label for label in glimpse.alive
    )
    return Group(
        Text(f"{bar} {glimpse.elapsed:4.0f} of {seconds:.0f} s", style="cyan"),
        Text(f"processes  {processes}"),
        Text(f"jobs       {jobs}", style="dim"),
    )


def _proof(proof: Proof) -> RenderableType:
    failover = proof.failover_seconds
    rows = (
        ("ticks due", proof.ticks_due),
        ("fired", proof.fired),
        ("lost", proof.lost),
        ("doubled", proof.doubled),
        ("jobs submitted", proof.jobs_submitted),
        ("jobs completed", proof.jobs_completed),
        ("jobs lost", proof.jobs_lost),
        ("failover", "none" if failover is None else f"{failover:.1f} s"),
        ("handlers run again", proof.handler_reruns),
    )
    verdict = f"\n{proof.lost} lost, {proof.doubled} doubled"
    return Group(table(("", ">"), rows), Text(verdict, style="green" if proof.holds else "red"))
