"""The table: figures for people, a column for each pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.table import Table
from rich.text import Text

from chaos.figures import Figures, total
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
"""What the kinds of faults are called when they are counted."""

Row = tuple[str, Callable[[Figures], str]]


def rows() -> list[list[Row]]:
    """The rows of the table, in groups."""
    return [
        [("seconds", lambda day: f"{day.seconds:.0f}"), *(_fault(kind) for kind in Kind)],
        [
            ("ticks due", lambda day: f"{day.ticks_due:,}"),
            ("fired", lambda day: f"{day.ticks_fired:,}"),
            ("lost", lambda day: f"{day.ticks_lost:,}"),
            ("doubled", lambda day: f"{day.ticks_doubled:,}"),
            ("early", lambda day: f"{day.ticks_early:,}"),
            ("latest", lambda day: f"{day.latest_tick:.1f} s"),
        ],
        [
            ("jobs submitted", lambda day: f"{day.jobs_submitted:,}"),
            ("answer lost", lambda day: f"{day.jobs_unsure:,}"),
            ("lost", lambda day: f"{day.jobs_lost:,}"),
            ("completed twice", lambda day: f"{day.jobs_double_completed:,}"),
            ("run again", lambda day: f"{day.jobs_rerun:,}"),
            ("late endings refused", lambda day: f"{day.endings_refused:,}"),
        ],
        [
            ("failovers", lambda day: f"{len(day.failovers):,}"),
            ("p50", lambda day: _seconds(day.failover_median)),
            ("p99", lambda day: _seconds(day.failover_99)),
            ("slowest", lambda day: _seconds(day.failover_slowest)),
            ("promised", lambda day: f"{day.failover_bound:.0f} s"),
        ],
        [("violations", lambda day: f"{len(day.violations):,}")],
    ]


def table(days: Sequence[Figures]) -> Table:
    """All days side by side, and together."""
    shown = [*days, total(days)] if len(days) > 1 else list(days)
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    drawn.add_column("")
    for day in shown:
        drawn.add_column(day.pair, justify="right")
    for group in rows():
        for name, show in group:
            cells = [Text(show(day), style=_style(name, show(day))) for day in shown]
            drawn.add_row(name, *cells, end_section=False)
        drawn.add_row()
    return drawn


def markdown(days: Sequence[Figures]) -> str:
    """The same for a page of the docs."""
    shown = [*days, total(days)] if len(days) > 1 else list(days)
    lines = [
        "| | " + " | ".join(day.pair for day in shown) + " |",
        "|---|" + "---:|" * len(shown),
    ]
    for group in rows():
        for name, show in group:
            lines.append(f"| {name} | " + " | ".join(show(day) for day in shown) + " |")
    return "\n".join(lines) + "\n"


def _fault(kind: Kind) -> Row:
    return NAMES[kind], lambda day: f"{day.faults.get(kind, 0):,}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def _style(name: str, cell: str) -> str:
    if name in ("lost", "doubled", "early", "completed twice", "violations"):
        return "green" if cell == "0" else "bold red"
    return "dim" if cell in ("0", "-") else ""
