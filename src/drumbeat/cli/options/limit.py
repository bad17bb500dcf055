"""The option `--limit` of lists, which are read page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from drumbeat.cli.command import Part
from drumbeat.cli.options.option import whole
from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.page import LARGEST_PAGE, Page, PageRequest

if TYPE_CHECKING:
    from rich.console import RenderableType

    from drumbeat.rules.human_time import Moments

T = TypeVar("T")


def limit_option(default: int = 50, most: int | None = None) -> Part:
    return whole("--limit", "How many to show.", default=default, most=most)


async def first(
    limit: int, ask: Callable[[PageRequest], Awaitable[Page[T]]]
) -> tuple[list[T], bool]:
    """At most `limit` items, and whether there are more."""
    items: list[T] = []
    after: str | None = None
    while True:
        page = await ask(PageRequest(min(LARGEST_PAGE, limit - len(items)), after))
        items += page.items
        after = page.next
        if after is None or len(items) >= limit:
            return items, after is not None


def show_list(
    session: Session,
    limit: int,
    ask: Callable[[Fleet, PageRequest], Awaitable[Page[T]]],
    table: Callable[[Moments, list[T]], RenderableType],
) -> None:
    """Print at most `limit` items of a list, and say if there are more."""
    items, more = session.ask(lambda fleet: first(limit, lambda page: ask(fleet, page)))
    session.output.show(items, table(session.output.moments, items))
    if more:
        session.output.say(f"There are more; --limit shows more than {limit}.")
