"""The table of figures, with a column for each pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.table import Table
from rich.text import Text

from chaos.figures import Figures, with_total
from chaos.history import Kind

NAMES = {
    Kind.KILL: "kills",
    Kind.STOP: "orderly stops",
    Kind.PAUSE: "pauses",
    Kind.PARTITION: "partitions",
    Kind.SLOW: "slow links",
    Kind.SKEW: "skewed clocks",
    Kind.BLOCK: "blocked loops",
    Kind.RESTART: "server restarts",
    Kind.EMPTY: "emptied servers",
    Kind.DISK_FULL: "full disks",
}
"""The plural names of the kinds of faults."""

Row = tuple[str, Callable[[Figures], str]]


def rows() -> list[list[Row]]:
    """The rows of the table, in groups."""
    return [
        [("seconds", lambda run: f"{run.seconds:.0f}"), *(_fault(kind) for kind in Kind)],
        [
            ("ticks due", lambda run: f"{run.ticks_due:,}"),
            ("fired", lambda run: f"{run.ticks_fired:,}"),
            ("lost", lambda run: f"{run.ticks_lost:,}"),
            ("doubled", lambda run: f"{run.ticks_doubled:,}"),
            ("early", lambda run: f"{run.ticks_early:,}"),
            ("latest", lambda run: f"{run.latest_tick:.1f} s"),
        ],
        [
            ("jobs submitted", lambda run: f"{run.jobs_submitted:,}"),
            ("answer lost", lambda run: f"{run.jobs_unsure:,}"),
            ("lost", lambda run: f"{run.jobs_lost:,}"),
            ("completed twice", lambda run: f"{run.jobs_double_completed:,}"),
            ("run again", lambda run: f"{run.jobs_rerun:,}"),
            ("late endings refused", lambda run: f"{run.endings_refused:,}"),
        ],
        [
            ("failovers", lambda run: f"{len(run.failovers):,}"),
            ("p50", lambda run: _seconds(run.failover_median)),
            ("p99", lambda run: _seconds(run.failover_99)),
            ("slowest", lambda run: _seconds(run.failover_slowest)),
            ("promised", lambda run: f"{run.failover_bound:.0f} s"),
        ],
        [("violations", lambda run: f"{len(run.violations):,}")],
    ]


def table(runs: Sequence[Figures]) -> Table:
    """A column for each run, and one for the sum."""
    shown = with_total(runs)
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    drawn.add_column("")
    for run in shown:
        drawn.add_column(run.pair, justify="right")
    for group in rows():
        for name, show in group:
            cells = [Text(show(run), style=_style(name, show(run))) for run in shown]
            drawn.add_row(name, *cells, end_section=False)
        drawn.add_row()
    return drawn


def markdown(runs: Sequence[Figures]) -> str:
    """The table as Markdown, for the docs."""
    shown = with_total(runs)
    lines = [
        "| | " + " | ".join(run.pair for run in shown) + " |",
        "|---|" + "---:|" * len(shown),
    ]
    for group in rows():
        for name, show in group:
            lines.append(f"| {name} | " + " | ".join(show(run) for run in shown) + " |")
    return "\n".join(lines) + "\n"


def _fault(kind: Kind) -> Row:
    return NAMES[kind], lambda run: f"{run.faults.get(kind, 0):,}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def _style(name: str, cell: str) -> str:
    if name in ("lost", "doubled", "early", "completed twice", "violations"):
        return "green" if cell == "0" else "bold red"
    return "dim" if cell in ("0", "-") else ""
