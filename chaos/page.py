"""The page: the pictures and figures of all days, as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from chaos.figures import Figures, total
from chaos.history import SERVER_FAULTS, History, Kind
from chaos.picture import EPOCHS, FAULTS, LATE, LOST, ON_TIME, Picture
from chaos.table import rows

TEMPLATE = Path(__file__).with_name("page.html")
FILE = "index.html"


def write_page(folder: Path, days: Sequence[tuple[History, Figures]]) -> Path:
    """Write the page into a folder, and say where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_text(page(days), encoding="utf-8")
    return path


def page(days: Sequence[tuple[History, Figures]]) -> str:
    """The whole page."""
    figures = [each for _, each in days]
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        summary=_summary(total(figures), len(days)),
        legend=_legend(),
        days="".join(_day(history, each) for history, each in days),
        table=_table(figures),
    )


def _summary(all_days: Figures, count: int) -> str:
    faults = sum(all_days.faults.values())
    figures = {
        "fleets": f"{count}",
        "faults": f"{faults:,}",
        "ticks due": f"{all_days.ticks_due:,}",
        "lost": f"{all_days.ticks_lost:,}",
        "doubled": f"{all_days.ticks_doubled:,}",
        "jobs submitted": f"{all_days.jobs_submitted:,}",
        "jobs lost": f"{all_days.jobs_lost:,}",
        "completed twice": f"{all_days.jobs_double_completed:,}",
        "failover, median": _seconds(all_days.failover_median),
        "slowest": _seconds(all_days.failover_slowest),
    }
    return "".join(
        f"<div><b>{value}</b><span>{escape(name)}</span></div>" for name, value in figures.items()
    )


def _legend() -> str:
    led = "".join(f'<i style="background:{colour}"></i>' for colour in EPOCHS[:4])
    kinds = [
        *((FAULTS[kind], kind.value) for kind in Kind if kind not in SERVER_FAULTS),
        (FAULTS[Kind.RESTART], "server away"),
        (FAULTS[Kind.EMPTY], "server back empty"),
        (FAULTS[Kind.DISK_FULL], "disk full"),
        ("#f3d9d6", "nobody leads"),
        (ON_TIME, "tick on time"),
        (LATE, "tick late"),
        (LOST, "tick lost or doubled"),
    ]
    others = "".join(
        f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for colour, name in kinds
    )
    return f"<span>{led}leads, a colour for each epoch</span>{others}"


def _day(history: History, figures: Figures) -> str:
    verdict = "holds" if not figures.violations else f"violations: {len(figures.violations)}"
    style = "good" if not figures.violations else "bad"
    facts = (
        f"seed {history.seed} · {len(history.nodes)} nodes · lease of {history.ttl:g} s · "
        f"{sum(figures.faults.values())} faults · {figures.ticks_fired:,} of "
        f"{figures.ticks_due:,} ticks fired, {figures.ticks_lost} lost, "
        f"{figures.ticks_doubled} doubled · failover {_seconds(figures.failover_median)} median, "
        f"{_seconds(figures.failover_slowest)} at most"
    )
    broken = "".join(f"<li>{escape(sentence)}</li>" for sentence in figures.broken())
    broken += "".join(f"<li>left out: {escape(sentence)}</li>" for sentence in figures.left_out)
    return (
        f'<section><h2>{escape(history.pair)} <em class="{style}">{verdict}</em></h2>'
        f"<p>{escape(facts)}</p>{Picture(history).draw()}"
        f"{f'<ul>{broken}</ul>' if broken else ''}</section>"
    )


def _table(days: Sequence[Figures]) -> str:
    shown = [*days, total(days)] if len(days) > 1 else list(days)
    head = "".join(f"<th>{escape(day.pair)}</th>" for day in shown)
    groups = "".join(
        "<tbody>"
        + "".join(
            f"<tr><th>{escape(name)}</th>"
            + "".join(f"<td>{escape(show(day))}</td>" for day in shown)
            + "</tr>"
            for name, show in group
        )
        + "</tbody>"
        for group in rows()
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead>{groups}</table>"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"
