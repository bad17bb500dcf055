"""Removes control characters from what is printed: names and results may contain any."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment

from drumbeat.model.visible_text import visible


class VisibleCharacters:
    """A renderable whose control characters are escaped. Styles are added after that."""

    def __init__(self, content: RenderableType) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._content, options):
            yield Segment(visible(segment.text), segment.style, segment.control)
