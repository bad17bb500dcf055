"""Pages whose items are bounded in bytes as well as in number."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import accumulate
from typing import TypeVar

from drumbeat.model.page import Page, PageRequest

T = TypeVar("T")

PAGE_BYTES = 4 * 1024 * 1024
"""Bytes of the items of a page; one with larger items ends earlier, but never without an item."""
FIRST_PORTION = 50
"""Items that are read before their size is known."""


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
