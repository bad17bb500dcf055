"""The report: the timelines and figures of all runs, as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from chaos.figures import Figures, total, with_total
from chaos.history import SERVER_FAULTS, History, Kind
from chaos.table import rows
from chaos.timeline import EPOCHS, FAULTS, LATE, LOST, ON_TIME, Timeline

TEMPLATE = Path(__file__).with_name("page.html")
FILE = "index.html"


def write_page(folder: Path, runs: Sequence[tuple[History, Figures]]) -> Path:
    """Write the report into a folder, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_text(page(runs), encoding="utf-8")
    return path


def page(runs: Sequence[tuple[History, Figures]]) -> str:
    figures = [each for _, each in runs]
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        summary=_summary(total(figures), len(runs)),
        legend=_legend(),
        runs="".join(_run(history, each) for history, each in runs),
        table=_table(figures),
    )


def _summary(sums: Figures, count: int) -> str:
    faults = sum(sums.faults.values())
    figures = {
        "fleets": f"{count}",
        "faults": f"{faults:,}",
        "ticks due": f"{sums.ticks_due:,}",
        "lost": f"{sums.ticks_lost:,}",
        "doubled": f"{sums.ticks_doubled:,}",
        "jobs submitted": f"{sums.jobs_submitted:,}",
        "jobs lost": f"{sums.jobs_lost:,}",
        "completed twice": f"{sums.jobs_double_completed:,}",
        "failover, median": _seconds(sums.failover_median),
        "slowest": _seconds(sums.failover_slowest),
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


def _run(history: History, figures: Figures) -> str:
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
        f"<p>{escape(facts)}</p>{Timeline(history).draw()}"
        f"{f'<ul>{broken}</ul>' if broken else ''}</section>"
    )


def _table(runs: Sequence[Figures]) -> str:
    shown = with_total(runs)
    head = "".join(f"<th>{escape(run.pair)}</th>" for run in shown)
    groups = "".join(
        "<tbody>"
        + "".join(
            f"<tr><th>{escape(name)}</th>"
            + "".join(f"<td>{escape(show(run))}</td>" for run in shown)
            + "</tr>"
            for name, show in group
        )
        + "</tbody>"
        for group in rows()
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead>{groups}</table>"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"
