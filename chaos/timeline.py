"""The timeline of a run: lanes over time, as one SVG.

From the top: who leads, the servers, the nodes with their faults, the ticks with their lateness,
and the number of handlers that ran. Every element has a tooltip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

from chaos.failovers import failovers
from chaos.history import Fault, Fire, History, Kind, Life, Term

WIDTH = 1360
LEFT = 118
RIGHT = 16
AXIS = 26
EPOCHS = (
    *("#3b6fb6", "#2a9d8f", "#8f6bb3", "#c98a1b", "#5b8c3a", "#b5577d", "#3f8fb0", "#7d7461"),
)
"""The colours of consecutive epochs."""
FAULTS = {
    Kind.KILL: "#c1121f",
    Kind.STOP: "#8a8f98",
    Kind.PAUSE: "#5f4bb6",
    Kind.PARTITION: "#e07a1f",
    Kind.SLOW: "#e9b44c",
    Kind.SKEW: "#0f8b8d",
    Kind.BLOCK: "#2f2f38",
    Kind.RESTART: "#c1121f",
    Kind.EMPTY: "#7b2d8b",
    Kind.DISK_FULL: "#8c5a2b",
}
ON_TIME, LATE, LOST = "#4c9f70", "#e9a23b", "#c1121f"
LATENESS_SHOWN = 0.5
"""Seconds within which a tick is drawn as on time."""
STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
LEAD, SERVER, NODE, TICKS, JOBS, GAP = 22, 14, 30, 40, 36, 10


class Timeline:
    """Draws one run, lane by lane."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._scale = (WIDTH - LEFT - RIGHT) / max(history.seconds, 1.0)
        self._y = AXIS
        self._parts: list[str] = []

    def draw(self) -> str:
        self._lead()
        self._servers()
        for node in self._history.nodes:
            self._node(node)
        self._y += GAP
        for name in self._history.due:
            self._ticks(name)
        self._jobs()
        height = self._y + 6
        body = "".join([*self._grid(height), *self._parts])
        return (
            f'<svg viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="timeline of {escape(self._history.pair)}">{body}</svg>'
        )

    def _lead(self) -> None:
        """Draw who led when, and the gaps without a leader."""
        self._label("leads", LEAD)
        for each in failovers(self._history):
            if each.after.since > each.before.until:
                nobody = each.after.since - each.before.until
                title = f"nobody led for {nobody:.2f} s; the failover took {each.seconds:.2f} s"
                self._bar(each.before.until, each.after.since, LEAD, "#f3d9d6", title)
        for term in self._history.terms:
            self._term(term, LEAD)
        self._y += LEAD + GAP

    def _term(self, term: Term, height: float) -> None:
        title = (
            f"epoch {term.epoch}: {term.node} led from {term.since:.2f} s to {term.until:.2f} s "
            f"({term.until - term.since:.2f} s)" + (f": {term.reason}" if term.reason else "")
        )
        self._bar(term.since, term.until, height, EPOCHS[term.epoch % len(EPOCHS)], title)
        width = (term.until - term.since) * self._scale
        if width > 7 + 7 * len(str(term.epoch)):
            x = self._x(max(0.0, term.since)) + 5
            self._parts.append(
                f'<text class="epoch" x="{x:.1f}" y="{self._y + height / 2 + 4:.1f}">'
                f"{term.epoch}</text>"
            )

    def _servers(self) -> None:
        for name in self._history.servers:
            self._label(name, SERVER)
            self._bar(0, self._history.seconds, SERVER, "#dfe5ea", f"{name} was up", inset=5)
            for fault in self._history.faults:
                if fault.target.partition("/")[0] == name:  # or a member of it
                    self._bar(
                        fault.since, fault.until, SERVER, FAULTS[fault.kind], _fault_title(fault)
                    )
            self._y += SERVER + 3
        self._y += GAP

    def _node(self, node: str) -> None:
        history = self._history
        self._label(node, NODE - 10)
        for life in history.lives:
            if life.node == node:
                self._bar(life.since, life.until, 16, "#e8ecef", _life_title(life))
        for term in history.terms:
            if term.node == node:
                self._term(term, 16)
        self._y += 17
        for fault in history.faults:
            if fault.target == node:
                self._bar(fault.since, fault.until, 6, FAULTS[fault.kind], _fault_title(fault))
                if fault.kind is Kind.KILL:
                    self._cross(fault)
        self._y += NODE - 17

    def _cross(self, fault: Fault) -> None:
        x, y = self._x(fault.since), self._y - 9
        self._parts.append(
            f'<path class="kill" d="M{x - 4:.1f} {y - 4}l8 8m0 -8l-8 8">'
            f"<title>{escape(_fault_title(fault))}</title></path>"
        )

    def _ticks(self, name: str) -> None:
        """Draw a bar for each tick: short and green if on time, and taller the later it fired."""
        history = self._history
        fires: dict[object, list[Fire]] = {}
        for fire in history.ledger:
            if fire.schedule == name:
                fires.setdefault(fire.tick_at, []).append(fire)
        self._label(name, TICKS - 20)
        worst = max([1.0, *(fire.lateness for each in fires.values() for fire in each)])
        width = max(1.0, min(4.0, self._scale * 0.55))
        base = self._y + TICKS - 8
        self._parts.append(
            f'<text class="lane small" x="{LEFT - 12}" y="{base - 2}">'
            f"up to {worst:.1f} s late</text>"
        )
        for tick in history.due[name]:
            at = history.second(tick)
            if at < 0:
                continue
            found = fires.get(tick, [])
            late = max((fire.lateness for fire in found), default=worst)
            colour = LOST if len(found) != 1 else ON_TIME if late < LATENESS_SHOWN else LATE
            height = 5 + (TICKS - 15) * late / worst
            title = _tick_title(name, f"{tick:%H:%M:%S}", found)
            self._parts.append(
                f'<rect x="{self._x(at) - width / 2:.1f}" y="{base - height:.1f}" '
                f'width="{width:.1f}" height="{height:.1f}" fill="{colour}">'
                f"<title>{escape(title)}</title></rect>"
            )
        self._y += TICKS

    def _jobs(self) -> None:
        """Draw the number of handlers that ran in each second."""
        self._label("runs a second", JOBS - 8)
        counts = Counter(int(run.at) for run in self._history.runs)
        most = max([1, *counts.values()])
        base = self._y + JOBS - 4
        for second in range(int(self._history.seconds) + 1):
            if counts[second]:
                height = (JOBS - 8) * counts[second] / most
                self._parts.append(
                    f'<rect x="{self._x(second):.1f}" y="{base - height:.1f}" '
                    f'width="{max(0.6, self._scale - 0.6):.1f}" height="{height:.1f}" '
                    f'fill="#a9bdd0"><title>second {second}: {counts[second]} handlers ran'
                    "</title></rect>"
                )
        self._y += JOBS

    def _grid(self, height: float) -> Iterator[str]:
        step = next((step for step in STEPS if self._history.seconds / step <= 16), STEPS[-1])
        for second in range(0, int(self._history.seconds) + 1, step):
            x = self._x(second)
            shown = f"{second // 60}:{second % 60:02}" if self._history.seconds > 90 else second
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{AXIS - 6}" y2="{height}"/>'
            yield f'<text class="axis" x="{x:.1f}" y="{AXIS - 11}">{shown}</text>'

    def _label(self, text: str, height: float) -> None:
        y = self._y + height / 2 + 4
        self._parts.append(f'<text class="lane" x="{LEFT - 12}" y="{y:.1f}">{escape(text)}</text>')

    def _bar(
        self, since: float, until: float, height: float, colour: str, title: str, inset: float = 0
    ) -> None:
        left, right = self._x(max(0.0, since)), self._x(min(self._history.seconds, until))
        self._parts.append(
            f'<rect x="{left:.1f}" y="{self._y + inset:.1f}" width="{max(1.5, right - left):.1f}" '
            f'height="{height - 2 * inset:.1f}" rx="2" fill="{colour}">'
            f"<title>{escape(title)}</title></rect>"
        )

    def _x(self, second: float) -> float:
        return LEFT + second * self._scale


def _fault_title(fault: Fault) -> str:
    detail = f" ({fault.detail})" if fault.detail else ""
    took = f"{fault.since:.2f} s to {fault.until:.2f} s"
    return f"{fault.kind} of {fault.target}{detail}, {took}"


def _life_title(life: Life) -> str:
    return f"{life.node} ran from {life.since:.2f} s to {life.until:.2f} s"


def _tick_title(name: str, tick: str, fires: list[Fire]) -> str:
    if not fires:
        return f"{name} at {tick} was lost"
    each = "; ".join(
        f"{fire.lateness:.2f} s late, by {fire.leader.partition(':')[0]} in epoch {fire.epoch}"
        for fire in fires
    )
    return f"{name} at {tick} fired {each}"
