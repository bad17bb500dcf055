"""Paging: the part of a query that says which page of a list is wanted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import accumulate
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

from drumbeat.model.page import LARGEST_PAGE, Page, PageRequest

T = TypeVar("T")

PAGE_BYTES = 4 * 1024 * 1024
"""Bytes of the items of a page; one with larger items ends earlier, but never without an item."""
FIRST_PORTION = 50
"""Items that are read before their size is known."""

Limit = Annotated[int, Meta(ge=1, le=LARGEST_PAGE)]
Place = Annotated[str, Meta(max_length=500)]


class PageQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which page is wanted."""

    limit: Limit = 100
    after: Place | None = None
    """Where the page before ended; the `Link` header of that page has it."""

    def page(self) -> PageRequest:
        """The page, as the store is asked for it."""
        return PageRequest(self.limit, self.after)


async def bounded_page(
    read: Callable[[PageRequest], Awaitable[Page[T]]],
    wanted: PageRequest,
    size: Callable[[T], int],
) -> Page[T]:
    """The page that is wanted, or its beginning if that has `PAGE_BYTES` already.

    It is read in portions, whose length follows from the size of the items before, so that large
    items are not all in memory at once.
    """
    items: list[T] = []
    after, room, portion = wanted.after, PAGE_BYTES, min(wanted.size, FIRST_PORTION)
    while True:
        page = await read(PageRequest(portion, after))
        sizes = [size(item) for item in page.items]
        fitting = sum(total <= room for total in accumulate(sizes))
        if fitting < len(sizes):
            if not items:
                fitting = max(fitting, 1)
            if fitting:
                page = await read(PageRequest(fitting, after))  # which tells where that ends
                items += page.items
                after = page.next
            return Page(tuple(items), after)
        items += page.items
        after = page.next
        room -= sum(sizes)
        left = wanted.size - len(items)
        average = max(1, (PAGE_BYTES - room) // max(1, len(items)))
        if after is None or left <= 0 or room < average:
            return Page(tuple(items), after)
        portion = min(left, room // average)
