"""Tables for people: compact, without lines, with the colours of the statuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from drumbeat.model.visible_text import visible

STYLES: Mapping[str, str] = {
    "completed": "green",
    "fired": "green",
    "alive": "green",
    "active": "green",
    "running": "cyan",
    "queued": "blue",
    "pending": "blue",
    "draining": "yellow",
    "paused": "yellow",
    "skipped": "yellow",
    "cancelled": "yellow",
    "failed": "red",
    "dead": "red",
}

GAP = 2
"""Blanks between two columns."""
NARROWEST = 8
"""Columns that the last column gets in any case, if it needs them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, as its title says: `>` sets it right, `+` folds it, `?` lets it go if need be."""

    title: str
    right: bool
    folds: bool
    optional: bool

    @classmethod
    def of(cls, marked: str) -> Column:
        """The column of a title with marks before it."""
        title = marked.lstrip(">+?")
        marks = marked[: len(marked) - len(title)]
        return cls(title, ">" in marks, "+" in marks, "?" in marks)


def cell(value: object) -> Text:
    """A value as a cell; a status in its colour. Never read as markup: names are hostile."""
    text = "-" if value is None or value == "" else visible(str(value))
    return Text(text, style=STYLES.get(text, "dim" if text == "-" else ""))


class Listing:
    """A table that fits: optional columns go first, then the last column is cut or folded."""

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self._columns = [Column.of(column) for column in columns]
        self._rows = [[cell(value) for value in row] for row in rows]
        self._widths = [
            max([len(column.title), *(each[number].cell_len for each in self._rows)])
            for number, column in enumerate(self._columns)
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        shown = self._fitting(options.max_width)
        made = Table(box=None, padding=0, header_style="bold")
        left = options.max_width - sum(self._widths[each] + GAP for each in shown[:-1])
        for number in shown:
            column, width = self._columns[number], self._widths[number]
            if made.columns:  # no padding: before 14.3 rich widened the last column by it
                made.add_column(width=GAP)
            made.add_column(
                column.title,
                justify="right" if column.right else "left",
                no_wrap=not column.folds,
                overflow="fold" if column.folds else "ellipsis",
                width=min(width, max(NARROWEST, left)) if number == shown[-1] else width,
            )
        for row in self._rows:
            first, *others = (row[number] for number in shown)
            made.add_row(first, *(each for other in others for each in ("", other)))
        yield made

    def _fitting(self, width: int) -> list[int]:
        shown = list(range(len(self._columns)))
        for number in reversed(range(len(self._columns))):
            if sum(self._widths[each] + GAP for each in shown) - GAP <= width:
                break
            if self._columns[number].optional:
                shown.remove(number)
        return shown


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str | None = None
) -> RenderableType:
    """A table, or the remark `empty` if there are no rows. `Column` explains marks of titles."""
    listed = list(rows)
    return note(empty) if empty is not None and not listed else Listing(columns, listed)


def facts(pairs: Iterable[tuple[str, object]]) -> Table:
    """Names and values below each other; what is None is left out."""
    made = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None:
            made.add_row(name, cell(value))
    return made


def below(*parts: RenderableType) -> Group:
    """Parts below each other, with an empty line between them."""
    spaced: list[RenderableType] = []
    for part in parts:
        spaced += [part] if not spaced else ["", part]
    return Group(*spaced)


def note(sentence: str) -> Text:
    return Text(sentence, style="dim")


class VisibleCharacters:
    """A renderable whose control characters are escaped: names and results may contain any."""

    def __init__(self, content: RenderableType) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._content, options):  # styles are added after this
            yield Segment(visible(segment.text), segment.style, segment.control)
