"""Pages put together: the first so many items of a long list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from drumbeat.model.page import LARGEST_PAGE, Page, PageRequest

T = TypeVar("T")


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
